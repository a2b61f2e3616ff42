"""EGNN: the equations of its layer, edge by edge."""

import torch
from torch.nn.functional import silu
from torch.testing import assert_close


def test_layer_is_that_of_the_equations_edge_by_edge(make, batch):
    layer = make("egnn").layers[0]
    relation, graph, width, gain = layer.relation, batch.graph, 8, 0.2
    h, x, v = (torch.randn(batch.objects, size).double() for size in (width, 2, 2))
    share = torch.rand(batch.objects, 1).double()
    new_h, new_x, new_v = layer(h, x, v, graph, share, gain)
    for i in range(batch.objects):
        messages, pull = torch.zeros(width).double(), torch.zeros(2).double()
        for e in torch.nonzero(graph.receivers == i)[:, 0]:
            j = graph.senders[e].long()
            edge = torch.cat([(x[i] - x[j]).square().sum().view(1), graph.attributes[e]])
            first = relation.receive(h[i]) + relation.send(h[j]) + relation.edge(edge)
            m = silu(layer.message(silu(first)))
            messages, pull = messages + m, pull + (x[i] - x[j]) * layer.attract(m)
        velocity = (1 + layer.inertia(h[i])) * v[i] + share[i] * pull
        assert_close(new_v[i], velocity)
        assert_close(new_x[i], x[i] + gain * velocity)
        assert_close(new_h[i], h[i] + layer.update(torch.cat([h[i], messages])))
