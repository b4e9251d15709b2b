"""GQA: scene graphs and compositional questions as typed deltas, answered by their semantic programs."""
