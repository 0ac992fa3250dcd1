"""What each problem is called to a person, and what each role is told to do about it. ``{…}`` are facts of the verdict."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wording:
    """What a problem is (for a person), and what to do about it, per role that may be asked. ``{…}`` are facts."""

    person: str
    builder: str = ""
    findings: str = ""
    planner: str = ""


_DROP = "Correct each to what its source says, or take it out; do not look for another source for it."
WORDINGS: dict[str, Wording] = {
    "not_delegated": Wording(
        "No research was done.",
        planner=(
            "Nothing has been researched yet. Call delegate_tasks now, with one task for each part of the question; name its "
            "subject, place and time."
        ),
    ),
    "missing_findings": Wording(
        "There is evidence, and no findings were written.",
        findings=(
            "findings.md does not exist. Write it from the evidence: a section `## <facet>` for each facet, bullets `- claim [S3]` in it."
        ),
    ),
    "findings_ungrounded": Wording(
        "The findings cite sources that cannot be relied on: {sources}.",
        findings=(
            "These ids in findings.md name nothing that may be cited: {sources}. Write the file from the evidence, and attribute "
            "nothing to them again."
        ),
    ),
    "stale_findings": Wording(
        "The findings were written from {count} sources, and there are {wanted} now.",
        findings=(
            "New evidence came in after findings.md was written ({count} sources then, {wanted} now). Add what is new; keep what is"
            " there. New: {sources}."
        ),
    ),
    "findings_underuses_evidence": Wording(
        "The findings leave out facets that have evidence: {facets}.",
        findings=(
            "findings.md has no entry for these facets, though there is evidence: {facets}. Add them with edit_workspace_file from "
            "{sources}."
        ),
    ),
    "missing_artifact": Wording(
        "No report was written.",
        builder="final_report.md does not exist. Read findings.md, then write the report with write_workspace_file.",
    ),
    "missing_query_facet": Wording(
        "Parts of the question are not answered: {facets}.",
        builder=(
            "The question asks for these, and the report does not speak of them: {facets}. Add a section for each from findings.md,"
            " or its gap sentence."
        ),
        planner="Nothing in the report speaks of these parts of the question: {facets}. Delegate one task for each of them.",
    ),
    "requested_count_shortfall": Wording(
        "The question asks for {wanted} items ({detail}), and the report gives {count}.",
        builder=(
            "The question asks for {wanted} ({detail}); the report lists {count}. List all that findings.md carries; if fewer, say "
            "how many were found."
        ),
        planner="The question asks for {wanted} ({detail}), and {count} were found. Delegate a task for the ones that are missing.",
    ),
    "thin_coverage": Wording(
        "Only {count} of {wanted} research tasks brought evidence.",
        planner=(
            "Only {count} of {wanted} tasks brought anything that can be cited. Delegate these again under their own names, with "
            "other words: {tasks}."
        ),
    ),
    "task_verification_flagged": Wording(
        "{count} research tasks brought nothing that can be cited: {tasks}.",
        planner=(
            "These tasks brought nothing that can be cited: {tasks}. Delegate each once more under its own name, with other words "
            "or other kinds of source."
        ),
    ),
    "uneven_task_investment": Wording(
        "Some parts rest on far fewer sources than others: {tasks}.",
        planner="These tasks have {count} sources where the richest has {wanted}: {tasks}. Delegate one deeper task for each.",
    ),
    "report_underuses_findings": Wording(
        "The report cites {count} of the {wanted} sources of the findings.",
        builder="The report cites {count} of {wanted} sources of findings.md. Add what the others carry, with their ids: {sources}.",
    ),
    "undisclosed_evidence_gap": Wording(
        "The report does not say what could not be found: {gaps}.",
        builder=(
            "The evidence does not answer everything, and the report is silent on it. Add these sentences, word for word, where "
            "they belong."
        ),
    ),
    "duplicate_report_sections": Wording(
        "Sections of the report repeat one another: {sections}.",
        builder=(
            "These sections say the same: {sections}. Keep each statement once, with all its citations, and give every section its "
            "own content."
        ),
    ),
    "report_meta_language": Wording(
        "The report speaks of its own making.",
        builder="A reader knows nothing of files, roles or instructions. Reword these sentences so that they speak of the subject only.",
    ),
    "untracked_delegation": Wording(
        "Tasks were given out that the plan does not hold: {tasks}.",
        planner=(
            "These tasks are not in the plan: {tasks}. Add them with write_plan; if one repeats a task of the plan, use that task's"
            " own name."
        ),
    ),
    "not_grounded": Wording(
        "The report cites no source that can be read.",
        builder=(
            "The report cites nothing that can be read. Write it from findings.md, with the source id behind every statement, as in [S3]."
        ),
    ),
    "no_urls": Wording(
        "Cited sources have no address to open: {sources}.",
        builder=(
            "These sources have no address that a reader can open: {sources}. Rest each statement on another id of findings.md, or "
            "take it out."
        ),
    ),
    "non_url_citation": Wording(
        "Sources are named in words instead of being cited.",
        builder=(
            "These sentences name a source in words. Put the id of findings.md in its place, as in [S3]; without an id, take the "
            "statement out."
        ),
    ),
    "unresolved_citation": Wording(
        "Citations lead nowhere: {sources}.",
        builder=(
            "These citations lead nowhere: {sources}. Cite only ids that stand in findings.md, each once at a place; take out what "
            "has none."
        ),
    ),
    "stub_source": Wording(
        "The report cites pages that were never read: {sources}.",
        builder=(
            "These pages could not be read, so nothing may rest on them: {sources}. Use other ids of findings.md, or take the "
            "statements out."
        ),
    ),
    "claim_unsupported": Wording(
        "{count} statements are not carried by the sources they cite.", builder="The cited sources do not carry these statements. " + _DROP
    ),
    "figure_unsupported": Wording(
        "{count} figures are not in the sources they cite.", builder="The cited sources do not have these figures. " + _DROP
    ),
    "regulation_unsupported": Wording(
        "{count} laws or standards are not named in the sources they cite.",
        builder="The cited sources do not name these laws or standards. " + _DROP,
    ),
    "quote_paraphrased": Wording(
        "{count} quotations are not in the words of their sources.",
        builder=(
            "These quotations are not what the source says. Quote it to the letter, or drop the quotation marks and report it in "
            "your own words."
        ),
    ),
    "entailment_unsupported": Wording(
        "{count} statements do not follow from the sources they cite.",
        builder="These statements do not follow from the sources they cite. " + _DROP,
    ),
    "cross_source_contradiction": Wording(
        "Sources contradict each other, and the report does not say so: {sources}.",
        builder=(
            "These sources differ, and the report does not say so. Put both values side by side in one sentence, each with its id, "
            "and say that they differ."
        ),
    ),
    "excluded_topic": Wording(
        "The report treats what the question leaves out: {facets}.",
        builder="The question leaves this out: {facets}. Take out the sections and sentences on it.",
    ),
    "off_topic_source": Wording(
        "Cited sources do not speak of the subject: {sources}.",
        builder=(
            "These sources do not speak of what they are cited for: {sources}. Rest the statements on other ids of findings.md, or "
            "take them out."
        ),
    ),
    "propagated_ungrounded_content": Wording(
        "Sentences of a rejected draft came back without a source.",
        builder="An earlier draft was rejected for these sentences, and nothing carries them now either. Take them out.",
    ),
    "uncited_claims": Wording(
        "{count} statements have no source.",
        builder="These statements have no source. Put the id of findings.md behind each, as in [S3], or take it out.",
    ),
    "report_underuses_evidence": Wording(
        "The report uses nothing of what was found on: {facets}.",
        builder=(
            "Evidence was found on these facets, and the report cites none of it: {facets}. Add what findings.md says, from {sources}."
        ),
    ),
    "missing_specific_item_per_facet": Wording(
        "The report gives no figure or date for: {facets}.",
        builder=(
            "The question asks for a figure or a date of each part, and the report gives none for: {facets}. Add it from "
            "findings.md, or its gap sentence."
        ),
    ),
    "placeholder_text": Wording(
        "The report holds places that were never filled in.",
        builder="These places were never filled in. Fill each from findings.md, or take out the sentence it stands in.",
    ),
    "truncated_ending": Wording(
        "The report ends in mid-sentence.",
        builder=(
            "The report breaks off. Finish its last section with edit_workspace_file; if room was the trouble, shorten earlier "
            "sections first."
        ),
    ),
}
