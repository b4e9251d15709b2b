"""Tables, figures and the report; it knows scores and traces, never how they were computed."""
