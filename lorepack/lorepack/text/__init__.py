"""Text as it is indexed and shown: tokens, language, comments, invisible characters."""
