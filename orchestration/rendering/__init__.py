"""Tables, figures and the report; this room uses scores and traces, never how they were computed."""
