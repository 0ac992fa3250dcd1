"""The command line. Nothing heavy is imported before a command needs it, so that ``--help`` is instant."""
