"""The measurements of ``substrate bench``: each work is compared with a peer or a part of it, in one run."""
