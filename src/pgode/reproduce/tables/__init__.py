"""The tables and figures that can be reproduced, and the numbers that the paper prints."""
