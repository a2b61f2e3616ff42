"""AgentFormer: an agent-aware transformer with a latent intent per object."""

from pgode.models.rivals.agentformer.model import AgentFormer, AgentFormerConfig

__all__ = ["AgentFormer", "AgentFormerConfig"]
