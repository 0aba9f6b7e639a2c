"""Simulated worlds to adapt from and to, registered with gymnasium under `ompo/`; needs gymnasium alone."""

from ompo_ros.sim.registration import register_all

register_all()
