"""AgentFormer: attention with separate projections within an object, and a decoder with memory."""

from dataclasses import replace

import pytest
import torch
from torch.distributions import Normal, kl_divergence
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from pgode.models.rivals.agentformer.attention import AgentAwareAttention
from pgode.models.rivals.agentformer.model import divergence
from pgode.models.rivals.agentformer.scene import Scene
from pgode.models.rivals.agentformer.transformer import Transformer
from pgode.nn.gaussian import DiagonalNormal
from pgode.runtime.errors import InputError

WIDTH, HEADS, SIZE = 8, 4, 2
SYSTEMS, MEMBERS, FRAMES = 2, 3, 4


@pytest.fixture
def model(make):
    return make("agentformer")


@pytest.fixture
def attention():
    torch.manual_seed(0)
    return AgentAwareAttention(WIDTH, HEADS).double()


@pytest.fixture
def tokens():
    torch.manual_seed(1)
    return torch.randn(SYSTEMS, MEMBERS, FRAMES, WIDTH).double()


def test_scores_are_of_own_projections_for_the_own_object_alone(attention, tokens):
    hidden = torch.zeros(SYSTEMS, MEMBERS, 1, dtype=torch.bool)
    hidden[1, 2] = True
    attended = attention(tokens, attention.memory(tokens, hidden))
    queries = attention.queries(tokens).unflatten(3, (2, HEADS, SIZE))
    offers = attention.offers(tokens).unflatten(3, (3, HEADS, SIZE))
    for system, i, t in [(0, 0, 1), (0, 2, 3), (1, 1, 0)]:
        visible = [(j, s) for j in range(MEMBERS) if not hidden[system, j] for s in range(FRAMES)]
        read = []
        for head in range(HEADS):
            kinds = [0 if j == i else 1 for j, _ in visible]
            query = queries[system, i, t, :, head]
            key = offers[system, :, :, :, head]
            scores = [query[k] @ key[j, s, k] for k, (j, s) in zip(kinds, visible, strict=True)]
            weights = (torch.stack(scores) / SIZE**0.5).softmax(0)
            read.append(weights @ torch.stack([key[j, s, 2] for j, s in visible]))
        assert_close(attended[system, i, t], attention.out(torch.cat(read)))


def test_with_equal_projections_it_is_plain_attention(attention, tokens):
    with torch.no_grad():
        for linear in (attention.queries, attention.offers):
            linear.weight[:WIDTH] = linear.weight[WIDTH : 2 * WIDTH]
            linear.bias[:WIDTH] = linear.bias[WIDTH : 2 * WIDTH]
    flat = tokens.flatten(1, 2)
    query = attention.queries(flat)[..., WIDTH:]
    key, value = attention.offers(flat)[..., WIDTH:].chunk(2, dim=-1)
    heads = [x.unflatten(2, (HEADS, SIZE)).transpose(1, 2) for x in (query, key, value)]
    plain = scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2)
    expected = attention.out(plain).view_as(tokens)
    memory = attention.memory(tokens, None)
    assert_close(attention(tokens, memory), expected)
    # One frame at a time uses another form of the products.
    single = [attention(tokens[:, :, t : t + 1], memory) for t in range(FRAMES)]
    assert_close(torch.cat(single, dim=2), expected)


def test_kept_past_gives_what_a_causal_pass_over_all_frames_gives(tokens):
    torch.manual_seed(2)
    decoder = Transformer(2, WIDTH, HEADS, crosses=True).double()
    context = decoder.memories(torch.randn(SYSTEMS, MEMBERS, 5, WIDTH).double(), None)
    past, kept = [], []
    for t in range(FRAMES):
        decoded, past = decoder(tokens[:, :, t : t + 1], None, past, context)
        kept.append(decoded)
    x = tokens
    for layer, memory in zip(decoder.layers, context, strict=True):
        y, read = layer.norms[0](x), []
        for t in range(FRAMES):
            until = layer.among.memory(y[:, :, : t + 1], None)
            read.append(layer.among(y[:, :, t : t + 1], until))
        x = x + torch.cat(read, dim=2)
        x = x + layer.across(layer.norms[1](x), memory)
        x = x + layer.feed(layer.norms[2](x))
    assert_close(torch.cat(kept, dim=2), decoder.norm(x))


def test_moving_a_scene_moves_its_forecast(model, batch, normaliser):
    shift = torch.zeros(5, 5).double()
    shift[:, normaliser.positions] = torch.randn(5, 2).double()
    by = shift[batch.system].unsqueeze(1)
    moved = replace(batch, states=torch.where(batch.observed, batch.states + by, 0))
    with torch.no_grad():
        before = model.forecast(batch, batch.target_times).mean
        after = model.forecast(moved, batch.target_times).mean
    assert_close(after, before + by)


def test_posterior_sees_the_targets_of_all_objects_of_its_system_alone(model, batch):
    scene = Scene.of(batch, model.positions)
    context = model.encode(batch, scene)
    object_ = int(torch.nonzero(batch.targets_observed.any(-1).any(1))[0])
    targets = batch.targets.clone()
    targets[object_][batch.targets_observed[object_]] += 1
    before = model.encode_targets(batch, scene, context)
    after = model.encode_targets(replace(batch, targets=targets), scene, context)
    same_system = batch.system == batch.system[object_]
    assert (before - after).abs().amax(1)[same_system].min() > 0
    assert torch.equal(before[~same_system], after[~same_system])


def test_divergence_is_that_between_two_normals():
    torch.manual_seed(3)
    one, two = (DiagonalNormal(*torch.randn(2, 5, 4).double()) for _ in range(2))
    posterior, prior = (Normal(n.mean, (0.5 * n.log_variance).exp()) for n in (one, two))
    assert_close(divergence(one, two), kl_divergence(posterior, prior).sum())
    assert_close(divergence(one, one), torch.zeros(()).double())


def test_mean_uses_the_mean_intent_and_samples_others(model, batch):
    with torch.no_grad():
        forecast = model.forecast(batch, batch.target_times, samples=4)
        scene = Scene.of(batch, model.positions)
        none = batch.states.new_empty(batch.objects, 3, 0)
        context = model.encode(batch, scene)
        rollout = model.decode(scene, context, forecast.contexts["intent"], none)
    # System 1 has whole frames, where nothing is interpolated.
    here = batch.system == 1
    assert_close(rollout[here, 1:], forecast.mean[here])
    assert forecast.samples.std(0).amin() > 0


def test_heads_that_do_not_share_the_width_are_refused(make):
    with pytest.raises(InputError, match="not a multiple of heads, 3"):
        make("agentformer", heads=3)


def test_default_likelihood_holds_where_only_part_of_the_objective_is_set(make):
    assert make("agentformer", objective={"sample": False}).config.objective.sigma == 0.01
