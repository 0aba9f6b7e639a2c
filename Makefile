# Everything runs in .venv, which is made on first use. PYTHON chooses the interpreter that makes it.
PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help setup adapt campaign figures test test-slow lint clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## make or refresh .venv (ROS 2, messages, packages); cheap when nothing changed
	@$(PYTHON) tools/set_up.py

adapt: setup ## adapt a simulated Panda arm: ros2 launch ompo_ros adapt.launch.py ARGS="name:=value ..."
	@tools/with_ros ros2 launch ompo_ros adapt.launch.py $(ARGS)

campaign: setup ## play 100 random faults on adaptation runs and count what breaks (docs/campaign.md)
	@tools/with_ros python -m ompo_ros.experiments.campaign $(ARGS)

figures: setup ## redraw every table and picture of docs/results from its CSV file
	@tools/with_ros python -m ompo_ros.experiments.compare --report > /dev/null
	@tools/with_ros python -m ompo_ros.experiments.compare --report --out docs/results/creeping.csv > /dev/null
	@tools/with_ros python -m ompo_ros.experiments.drift --report > /dev/null

lint: setup ## ruff and mypy
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@tools/with_ros mypy

# What fails is tried once more, alone, as by colcon's --retest-until-pass: on busy cores DDS discovery can take seconds.
# A module that cannot be collected is not: the second try knows nothing of it.
test: lint ## lint, then every test but the slow ones, two at a time; what fails is tried once more alone
	@found="$$(tools/with_ros python -m pytest --collect-only -qq -m "not slow" $(ARGS) 2>&1)" || \
	  (echo "$$found" && false)
	@tools/with_ros python -m pytest -n 2 --dist loadgroup --durations 20 -m "not slow" $(ARGS) || \
	  (echo "make test: a second try for what failed" && \
	   tools/with_ros python -m pytest --last-failed --last-failed-no-failures none -m "not slow" $(ARGS))

test-slow: setup ## the tests that take minutes each
	@tools/with_ros python -m pytest -m slow $(ARGS)

clean: ## remove .venv and everything built
	@rm -rf .venv build ompo_msgs/build pip_ros/build *.egg-info
