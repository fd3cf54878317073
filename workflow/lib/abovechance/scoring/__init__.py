"""How likely a language model finds each choice: models -> trie -> engine -> store."""
