# SPDX-License-Identifier: GPL-2.0
# What people type; the kernel's build system reads Kbuild, not this file.

SHELL := /bin/sh
.DEFAULT_GOAL := modules

# Everything in here that is built is built under build/, one directory for each
# kernel.  Nothing else writes to the source tree.
TOP := $(CURDIR)
SETUP := tools/setup --quiet

# O= and the like mean something else to the makes further down.
MAKEOVERRIDES =

# As in the kernel's own Makefile, a CC that happens to be in the environment
# is not a choice of compiler: it has to be given on the command line.
from_anywhere := KVER KDIR O V LLVM INSTALL_MOD_PATH DESTDIR
from_command_line := W C CHECK CF CC KCFLAGS
given = $(if $(filter $(2),$(origin $(1))),$(1)='$($(1))',$(1)=)
kbuild = $(foreach v,$(from_anywhere),$(call given,$(v),command% environment%)) \
	 $(foreach v,$(from_command_line),$(call given,$(v),command%)) tools/kbuild

# Userspace goes to one place, whatever kernel it is run on.
userspace := $(TOP)/build
userspace_install = $(foreach v,DESTDIR INSTALL_MOD_PATH PREFIX TC_LIB_DIR,$(call given,$(v),command% \
	environment%)) O=$(userspace) tools/install

.PHONY: help
help:	## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo 'Variables: KVER=6.1|6.12|7.x|RELEASE or KDIR=DIR choose the kernel (default: the'
	@echo 'running one), O=DIR the output, LLVM=1 or CC=... the compiler, V=1 shows commands,'
	@echo 'INSTALL_MOD_PATH=DIR or DESTDIR=DIR the root to install in.'

.PHONY: modules
modules: ## Build all modules (the default): build/RELEASE/*.ko
	@$(SETUP) modules
	+@$(kbuild) modules

.PHONY: install
install: install-modules install-tools ## Install the modules built for KVER or KDIR, and the tools

.PHONY: uninstall
uninstall: ## Remove exactly what `make install` put there
	@$(kbuild) uninstall
	@$(userspace_install) uninstall

.PHONY: install-modules
install-modules: ## Install the modules only
	+@$(kbuild) install

.PHONY: install-tools
install-tools: tools ## Install tools, tc's plugin, manual pages, the unit, examples, documentation
	@DOCS=1 $(userspace_install) install

.PHONY: clean
clean: ## Remove what was built; downloads stay in the cache
	@$(if $(filter command%,$(origin O)),$(kbuild) clean,rm -rf build)

.PHONY: setup
setup: ## Install everything that any target needs (as root)
	@tools/setup

.PHONY: tools
tools: ## Build the userspace tools: build/bin, build/tc
	@$(SETUP) build
	+@$(MAKE) --no-print-directory -C tools/dcload O=$(userspace)/bin
	+@$(MAKE) --no-print-directory -C lab/labnic/tool O=$(userspace)/bin
	+@$(MAKE) --no-print-directory -C lab/labnet O=$(userspace)/bin
	+@$(MAKE) --no-print-directory -C tools/nic_ts O=$(userspace)/bin
	+@$(MAKE) --no-print-directory -C tools/onrampctl O=$(userspace)/bin
	+@$(MAKE) --no-print-directory -C tools/onrampd O=$(userspace)/onrampd wanted
	+@$(MAKE) --no-print-directory -C tools/tc O=$(userspace)/tc

.PHONY: demo
demo: ## Compare cubic, bbr, dctcp, timely; fq and onramp in a VM: tables, plot
	@$(SETUP) build vm plot
	@MAKEFLAGS= tools/demo/run

.PHONY: quick
quick: ## Run the tests for each commit, in 3 minutes on two cores
	@$(SETUP) build vm check
	@MAKEFLAGS= selftests/run-check quick

.PHONY: check
check: ## Run the tests, in 18 minutes on two cores
	@$(SETUP) build vm check trixie promtool
	@MAKEFLAGS= selftests/run-check

.PHONY: check-all
check-all: ## And those that take longer: all kselftests on 6.1 too, experiments
	@$(SETUP) build vm check trixie promtool
	@MAKEFLAGS= selftests/run-check all

.PHONY: unit
unit: ## Run the unit tests of the algorithms, 64 and 32 bit
	@$(SETUP) build check
	+@$(MAKE) --no-print-directory -C selftests/unit run O=$(userspace)/unit

.PHONY: fuzz
fuzz: ## Run the fuzzers for a bounded time
	@$(SETUP) build check
	+@$(MAKE) --no-print-directory -C selftests/fuzz run O=$(userspace)/fuzz

.PHONY: kselftest
kselftest: ## Run the kselftests in the VM on KVER (default: 6.1 and 6.12)
	@$(SETUP) build vm
	@for kernel in $(or $(filter 6.1 6.12 /%,$(KVER)),6.1 6.12); do \
		MAKEFLAGS= selftests/run-check kselftest "$$kernel" || exit 1; \
	done

.PHONY: kselftest-debug
kselftest-debug: ## Run kselftests on a kernel with KASAN, lockdep, kmemleak, UBSAN
	@$(SETUP) build vm lab
	@MAKEFLAGS= selftests/run-check kselftest-debug kselftest-debug-workloads

.PHONY: check-long
check-long: ## Everything at once for ten minutes, on a debug kernel [SOAK=s]
	@$(SETUP) build vm lab
	@MAKEFLAGS= SOAK=$(SOAK) selftests/run-check long

.PHONY: check-kcsan
check-kcsan: ## On a kernel with KCSAN: everything at once for five minutes [SOAK=s]
	@$(SETUP) build vm lab
	@MAKEFLAGS= SOAK=$(SOAK) selftests/run-check kcsan

.PHONY: check-kernels
check-kernels: ## Build for each kernel, test it in the VM, record it for the table: [KERNELS="7.x"] [EVERY=1]
	@$(SETUP) build vm trixie
	@MAKEFLAGS= EVERY=$(EVERY) selftests/kernels/run $(KERNELS)

.PHONY: check-rt
check-rt: ## The same for Debian's kernels with PREEMPT_RT
	@$(MAKE) --no-print-directory check-kernels KERNELS='6.1-rt-amd64 6.12-rt-amd64'

.PHONY: check-arm64
check-arm64: ## The same for arm64: cross compiled, and in QEMU's arm64
	@$(MAKE) --no-print-directory check-kernels KERNELS='6.1-cloud-arm64 6.12-cloud-arm64'

.PHONY: unit-cross
unit-cross: ## Run the unit tests on big-endian s390x, 32-bit armhf and i386, and arm64, under QEMU
	@$(SETUP) build cross
	+@$(MAKE) --no-print-directory -C selftests/unit cross O=$(userspace)/unit STEPS=200000

.PHONY: lab
lab: ## Run an experiment in virtual time: EXP=name [DEBUG=1] [SEED=n]
	@MAKEFLAGS= lab/run $(if $(filter 1,$(DEBUG)),--debug) \
		$(if $(SEED),--seed '$(SEED)') '$(EXP)'

.PHONY: matrix-lab
matrix-lab: ## Compare On-Ramp with mode off where clocks, links and paths are wrong [CASES="slew-*"]
	@MAKEFLAGS= lab/matrix $(CASES)

.PHONY: matrix-benefit
matrix-benefit: ## Compare On-Ramp with fq, and with the paper's equations and perfect clocks [CASES="rtt-*"] [SEEDS=3]
	@MAKEFLAGS= lab/benefit $(if $(SEEDS),--seeds '$(SEEDS)') $(CASES)

.PHONY: matrix-chance
matrix-chance: ## Compare On-Ramp with fq in random rows of that matrix [CASES=20] [FIRST=1] [WORDS="cc=timely"]
	@MAKEFLAGS= lab/chance --first $(or $(FIRST),1) --rows $(or $(CASES),20) $(WORDS)

.PHONY: timely-matrix
timely-matrix: ## Compare TIMELY with CUBIC at all speeds and RTTs [CASES="10g-* *-tenth"] [SEEDS="911 912"]
	@MAKEFLAGS= $(if $(SEEDS),SEEDS='$(SEEDS)') lab/timely-matrix $(CASES)

.PHONY: matrix-random
matrix-random: ## The same in the closed loop of the unit tests, where several things are wrong at a time [CASES=1000] [FIRST=1]
	@$(SETUP) build
	+@$(MAKE) --no-print-directory -C selftests/unit loop O=$(userspace)/unit \
		FIRST=$(or $(FIRST),1) CASES=$(or $(CASES),1000)

.PHONY: ablation
ablation: ## Switch off each mechanism of On-Ramp and of TIMELY, one at a time: which rows of their models are lost? [ABLATIONS="slack timely_hai"]
	@$(SETUP) build
	@selftests/unit/ablation --out $(userspace)/ablation $(ABLATIONS)

# lab/Snakefile, for what is like one of these patterns.
workflow = @$(SETUP) papers build vm lab plot && MAKEFLAGS= /usr/bin/snakemake -s lab/Snakefile \
	--directory build/lab -j $(or $(JOBS),1) -k --rerun-incomplete --rerun-triggers params \
	--config only='$(1)' $(if $(SEEDS),seeds=$(SEEDS)) $(if $(SHORT),short=1) --

.PHONY: papers
papers: ## Run all figures of the papers that exist, and make one table [EXPS="timely-*"] [SEEDS=1] [JOBS=2] [SHORT=1]
	$(call workflow,$(EXPS)) papers

.PHONY: rivals
rivals: ## Compare congestion controls, alone and with On-Ramp, under four loads [CELLS="fig9-*"] [SEEDS=1] [JOBS=2] [SHORT=1]
	$(call workflow,$(CELLS)) rivals

.PHONY: bench-onramp
bench-onramp: ## Measure what On-Ramp costs: build/lab/onramp-cost, build/lab/onramp-cpu
	@MAKEFLAGS= LAB_MODULES=$(TOP)/selftests/onramp/bench lab/run \
		--real-time --mem 8192 selftests/onramp/bench/onramp-cost
	@MAKEFLAGS= LAB_MODULES=$(TOP)/selftests/onramp/bench lab/run \
		--real-time --mem 8192 --case forwarded --out build/lab/onramp-cost-forwarded \
		selftests/onramp/bench/onramp-cost
	@MAKEFLAGS= LAB_MODULES=$(TOP)/selftests/onramp/bench lab/run \
		--mem 8192 selftests/onramp/bench/onramp-cpu
	@MAKEFLAGS= $(MAKE) --no-print-directory bench-forward
	@MAKEFLAGS= selftests/onramp/bench/cpu-instructions || [ $$? -eq 4 ]

.PHONY: bench-forward
bench-forward: ## Measure what forwarding costs with On-Ramp: build/lab/onramp-forward, -conntrack, -gro
	@kernel=$$(MAKEFLAGS= lab/kernel/build --nat) && for case in '' conntrack gro; do \
		MAKEFLAGS= LAB_MODULES=$(TOP)/selftests/onramp/bench lab/run --kernel $$kernel/build \
			--real-time --mem 4096 --case "$$case" \
			--out build/lab/onramp-forward$${case:+-$$case} \
			selftests/onramp/bench/onramp-forward || exit 1; \
	done

.PHONY: matrix-vm
matrix-vm: ## Measure what On-Ramp costs where it can't help: [KERNEL=6.1] [CASES=...]
	@$(SETUP) build vm
	@MAKEFLAGS= selftests/onramp/matrix $(CASES)

.PHONY: check-ynl
check-ynl: ## Read netlink with the kernel's own ynl, by the specifications: [KERNEL=6.1]
	@selftests/interfaces/ynl

.PHONY: check-neighbours
check-neighbours: ## Test this version with the last release: tools, modules, hosts: [REV=COMMIT]
	@$(SETUP) build vm
	@MAKEFLAGS= selftests/interfaces/neighbours $(REV)

.PHONY: check-dashboard
check-dashboard: ## Ask a Prometheus the dashboard's queries, with metrics of the VM: build/dashboard [KERNEL=6.1]
	@$(SETUP) build vm prometheus browser
	@MAKEFLAGS= tools/onrampctl/test/dashboard_vm

.PHONY: check-programs
check-programs: ## Compare nginx, redis and iperf3 over fq and onramp: [KERNEL=6.1] [CC=timely] [PLACES=...]
	@$(SETUP) build vm programs
	@MAKEFLAGS= selftests/onramp/programs $(PLACES)

.PHONY: check-podman
check-podman: ## Test containers of Debian's podman, in its own network, behind the host's qdisc: [KERNEL=6.1]
	@$(SETUP) build vm podman
	@MAKEFLAGS= selftests/onramp/podman

.PHONY: check-ansible
check-ansible: ## Test Ansible's role and playbooks against Debian 12 in a VM, as root
	@$(SETUP) packages vm fleets
	@MAKEFLAGS= selftests/fleets/ansible

.PHONY: check-kubernetes
check-kubernetes: ## Test the driver container in a VM, and the manifests for Kubernetes, as root
	@$(SETUP) packages vm fleets
	@MAKEFLAGS= selftests/fleets/kubernetes

.PHONY: check-iproute2
check-iproute2: ## Test the patch to tc in packaging/iproute2, in a VM: [KERNEL=6.1]
	@$(SETUP) build vm iproute2
	@MAKEFLAGS= selftests/packages/iproute2

.PHONY: check-services
check-services: ## Test the units beside systemd-networkd and NetworkManager of Debian 12 in a VM, as root
	@$(SETUP) packages vm fleets
	@MAKEFLAGS= selftests/fleets/services

.PHONY: check-onrampd
check-onrampd: ## Test the daemons of three hosts: a queue from the first packet on: [KERNEL=6.1]
	@$(SETUP) build vm
	@MAKEFLAGS= selftests/onramp/onrampd

.PHONY: onrampd-scale
onrampd-scale: ## Simulate onrampd in clusters of up to 100,000 hosts: [SAMPLE=200]
	@$(MAKE) --no-print-directory -C selftests/unit scale

.PHONY: sync-ablation
sync-ablation: ## Simulate the estimators of onrampd and Huygens: [SYNC_SEED=1]
	@$(MAKE) --no-print-directory -C selftests/unit sync

.PHONY: lab-list
lab-list: ## List the experiments of the lab
	@lab/run --list

.PHONY: lab-kernel
lab-kernel: ## Build the kernel of the lab, if it is not in the cache [DEBUG=1]
	@MAKEFLAGS= lab/kernel/build $(if $(filter 1,$(DEBUG)),--debug)

.PHONY: lab-debug-check
lab-debug-check: ## Test that DEBUG=1 gives the same results and finds nothing
	@MAKEFLAGS= lab/test/debug $(EXP)

.PHONY: bench-cc
bench-cc: ## Measure what congestion controls cost, in instructions: build/bench/cc.txt
	@$(SETUP) build vm
	@MAKEFLAGS= selftests/timely/bench

.PHONY: bench-nic-ts
bench-nic-ts: ## Measure what the timestamp bus costs a packet: ns, instructions
	@$(SETUP) build vm
	@MAKEFLAGS= selftests/nic_ts/bench

.PHONY: bench-or-acker
bench-or-acker: ## Measure what or_acker costs a packet, in instructions: build/bench/or_acker.txt
	@$(SETUP) build vm
	@MAKEFLAGS= selftests/or_acker/bench

.PHONY: bench-wire
bench-wire: ## Measure what the model of the wire costs CPUs that share it: build/bench/wire.txt
	@mkdir -p build/bench
	@$(CC) -std=gnu11 -O2 -Wall -Isch_onramp -Iinclude -Iinclude/user -o build/bench/wire \
		selftests/onramp/bench/wire.c -lpthread
	@build/bench/wire | column -t | tee build/bench/wire.txt

.PHONY: series
series: ## Write the modules as patches for a kernel's sources: KDIR=DIR [OUT=build/series]
	@$(if $(KDIR),,$(error set KDIR to the sources of a kernel, of Linux 6.12 or newer))
	@tools/setup --quiet series-tools
	@tools/series/write '$(KDIR)' $(if $(OUT),'$(OUT)')

.PHONY: check-series
check-series: tools ## Test those patches: checkpatch, builds =m and =y, boots of both: [KDIR=DIR]
	@$(SETUP) vm series-tools
	@MAKEFLAGS= tools/series/check $(if $(KDIR),'$(KDIR)')

.PHONY: dist
dist: ## Make the source archive: build/dist/onramp-VERSION.tar.xz [SIGN=KEY]
	@packaging/dist

.PHONY: deb
deb: ## Build Debian packages: build/deb/*.deb
	@$(SETUP) deb
	@packaging/deb

.PHONY: image
image: ## Build the driver container for Kubernetes, with podman or buildah: [IMAGE=NAME]
	@packaging/image

.PHONY: rpm
rpm: ## Build RPM packages: build/rpm/*.rpm [KVER=KERNEL] [SIGN_KEY=FILE SIGN_CERT=FILE]
	@$(SETUP) packages
	@packaging/rpm

.PHONY: check-packages
check-packages: ## Test the packages in fresh Debian trees, and booted in the VM: [TREES='bookworm']
	@$(SETUP) packages vm
	@MAKEFLAGS= selftests/packages/run $(TREES)

.PHONY: docs
docs: ## Build the documentation as HTML: build/docs/index.html
	@$(SETUP) docs
	@tools/docs/build

.PHONY: figures
figures: ## Draw the figures of the documentation from the tables of results
	@$(SETUP) plot
	@Documentation/figures/draw

.PHONY: results-table
results-table: ## Write the table of the papers' figures from Documentation/results/data
	@Documentation/results/table

.PHONY: style
style: checkpatch floors sparse clang cocci ## Run all that looks at sources: these five, in a quarter of an hour

.PHONY: checkpatch
checkpatch: ## Run the kernel's checkpatch, and look for licence lines
	@$(SETUP) check
	@tools/style

.PHONY: floors
floors: ## Check that files of a module use those below them only
	@$(SETUP) check
	@tools/floors

.PHONY: cocci
cocci: ## Search the modules by the kernel's Coccinelle scripts
	@$(SETUP) cocci lab
	@tools/cocci

.PHONY: sparse
sparse: ## Run sparse, and the compiler with W=1 (default: on 6.12)
	@$(SETUP) build check
	@tools/sparse $(or $(KDIR),$(KVER),6.12)

.PHONY: litmus
litmus: ## Check protocols without locks by the kernel's memory model, with herd7
	@$(SETUP) lab litmus
	@selftests/litmus/run

.PHONY: clang
clang: ## Build the modules with clang and W=1, for 6.12
	@$(SETUP) build lab debug-kernel clang
	@tools/clang

.PHONY: check-patches
check-patches: ## Test the drivers' patches: they apply, build, and run in the VM
	@$(SETUP) build vm check
	@MAKEFLAGS= selftests/run-check patches 'patches-vm-6.1 patches-vm-6.12'

.PHONY: check-mutants
check-mutants: ## Test that the kselftests notice wrong versions of modules: [MUTANTS='NAME...']
	@$(SETUP) build vm
	@MAKEFLAGS= selftests/mutate/run $(if $(filter 6.1 6.12,$(KVER)),--kernel $(KVER)) $(MUTANTS)

.PHONY: check-mutants-doctor
check-mutants-doctor: ## Test that the tests of onrampctl doctor and status notice each condition that is negated
	@$(SETUP) build check
	@MAKEFLAGS= tools/onrampctl/test/mutate

.PHONY: compat-check
compat-check: ## Test the shims on 6.1, 6.12 and 7.x (or on KVER)
	@$(SETUP) build
	@compat/test/run $(KVER)
