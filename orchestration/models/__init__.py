"""Language models: asking a server, keeping its replies, and replaying them; no benchmark is known here.

Open :mod:`.asking` first: it asks a model's questions, by a server or by a replay. A request with its reply
is an :mod:`.exchange`; a :mod:`.transcript` is the file of exchanges, with a journal while a run asks;
:mod:`.client` sends a request over the network; :mod:`.answering` describes the model that answered.
"""
