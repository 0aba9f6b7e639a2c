# ROS 2 Jazzy with ompo_ros, as docs/install.md builds it on Ubuntu 24.04; that page says what of it was checked.
#   docker build -t ompo_ros .
#   docker run --rm -it --shm-size=1g -v "$PWD/runs:/workspace/runs" ompo_ros
FROM ros:jazzy-ros-base
SHELL ["/bin/bash", "-c"]
WORKDIR /workspace

# libegl1 draws MuJoCo's pictures without a screen.
RUN apt-get update \
 && apt-get install -y --no-install-recommends libegl1 python3-venv \
 && rm -rf /var/lib/apt/lists/*

# The Python packages first: they change seldom. torch is the CPU build; leave out the index for the one with CUDA.
COPY requirements src/ompo_ros/requirements
RUN python3 -m venv --system-site-packages .venv \
 && .venv/bin/pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu \
      -r src/ompo_ros/requirements/learning.txt \
      -r src/ompo_ros/requirements/policy.txt \
      -r src/ompo_ros/requirements/simulation.txt
ENV VIRTUAL_ENV=/workspace/.venv PATH=/workspace/.venv/bin:$PATH

COPY . src/ompo_ros
RUN apt-get update \
 && rosdep update --rosdistro jazzy \
 && rosdep install --from-paths src/ompo_ros src/ompo_ros/ompo_msgs --ignore-src -y --rosdistro jazzy \
 && rm -rf /var/lib/apt/lists/*
RUN source /opt/ros/jazzy/setup.bash \
 && colcon build --base-paths src/ompo_ros src/ompo_ros/ompo_msgs

ENTRYPOINT ["/bin/bash", "-c", "source install/setup.bash && exec \"$@\"", "--"]
CMD ["ros2", "launch", "ompo_ros", "adapt.launch.py"]
