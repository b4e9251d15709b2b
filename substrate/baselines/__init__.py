"""Language models as baselines: the requests that they get, and the reading of their replies.

Begin with :mod:`.model`, which defines requests and replies. The caller sends the requests, so no module here
needs a network. No module imports an interpreter: prompts are written from formats and logs.

    model          requests, replies, and an answer's row
    twin           Twin-EventLog as text, once for each arm; concordia plays its villagers with the same words
    clevrer        a log as English text
    gqa            a photograph, for an answer or a scene graph
    parameters     the settings of all baselines, the platform's too
    serving        a small model on this machine, to which the caller may send the requests
"""
