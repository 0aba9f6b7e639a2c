"""Simulated worlds to adapt from and to, registered with gymnasium under `ompo/`; needs gymnasium alone."""

import os

from ompo_ros.sim.headless import choose_renderer
from ompo_ros.sim.registration import register_all

choose_renderer(os.environ)
register_all()
