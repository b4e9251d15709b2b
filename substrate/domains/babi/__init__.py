"""bAbI: stories told in sentences, and questions about them."""
