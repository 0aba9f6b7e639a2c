"""Recorded runs as MCAP files: written so that a kill loses a second, read up to wherever a file was cut."""

from ompo_ros.recording.reader import Recording, UnusableRecording, recording_files
from ompo_ros.recording.writer import RecordingWriter, SizeLimits

__all__ = ["Recording", "RecordingWriter", "SizeLimits", "UnusableRecording", "recording_files"]
