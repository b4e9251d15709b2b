"""The measurements of ``substrate bench``: each work beside a peer or a floor in the same run."""
