"""Recorded runs as MCAP files: a kill loses at most a second, and a cut file is read up to the cut."""

from ompo_ros.recording.reader import Recording, UnusableRecording, recording_files
from ompo_ros.recording.writer import RecordingWriter, SizeLimits

__all__ = ["Recording", "RecordingWriter", "SizeLimits", "UnusableRecording", "recording_files"]
