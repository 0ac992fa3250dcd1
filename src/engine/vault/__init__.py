"""The Obsidian vault: pages, links and frontmatter, the one seam by which anything enters it, and its lint."""
