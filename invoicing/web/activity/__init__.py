"""The page that tells what agents did: for the owner of all, for a person of their own."""
