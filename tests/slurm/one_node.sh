#!/usr/bin/env bash
# A SLURM cluster of this one machine, for tests: one_node.sh start FOLDER | stop FOLDER
#
# Needs root, and Debian's packages slurm-wlm and munge. Writes /etc/slurm/slurm.conf, where sbatch looks for
# it (what stood there is kept in FOLDER and put back), a key for munge where there is none, and all else to
# FOLDER. One node with this machine's cores and memory, two partitions; no accounting, no cgroups. With GPUS=1 in
# the environment, the node says that it has a GPU, whether it has one or not.
set -euo pipefail
command=${1:?start or stop} folder=${2:?a folder}
conf=/etc/slurm/slurm.conf
node=$(hostname -s)
gpus=${GPUS:-0}

fail() { echo "one_node.sh: $*" >&2; exit 1; }

stop() {
    for name in slurmd slurmctld munged; do
        if [ -e "$folder/$name.pid" ]; then
            pid=$(cat "$folder/$name.pid")
            kill "$pid" 2>/dev/null && for _ in {1..50}; do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
            kill -9 "$pid" 2>/dev/null || true
            rm -f "$folder/$name.pid"
        fi
    done
    if [ -e "$folder/slurm.conf.before" ]; then mv "$folder/slurm.conf.before" "$conf"
    elif [ -e "$conf" ] && grep -q "one_node.sh" "$conf"; then rm "$conf"; fi
    if grep -q "one_node.sh" /etc/slurm/gres.conf 2>/dev/null; then rm /etc/slurm/gres.conf; fi
}

start() {
    [ "$(id -u)" = 0 ] || fail "needs root"
    for program in munged slurmctld slurmd sbatch squeue; do
        PATH=$PATH:/usr/sbin command -v $program >/dev/null || fail "needs $program (apt install slurm-wlm munge)"
    done
    pgrep "^(munged|slurmctld|slurmd)$" >/dev/null 2>&1 && fail "SLURM or munge runs here already"
    mkdir -p "$folder/state" "$folder/spool" /etc/slurm /run/munge
    chown munge:munge /run/munge
    if [ ! -e /etc/munge/munge.key ]; then
        mkdir -p /etc/munge
        head -c 1024 /dev/urandom > /etc/munge/munge.key
        chown munge:munge /etc/munge/munge.key && chmod 400 /etc/munge/munge.key
    fi
    [ ! -e "$conf" ] || cp -p "$conf" "$folder/slurm.conf.before"
    memory=$(($(awk '/MemTotal/ { print $2 }' /proc/meminfo) / 1024 - 500))
    if [ "$gpus" -gt 0 ]; then
        [ ! -e /etc/slurm/gres.conf ] || fail "there is a /etc/slurm/gres.conf already"
        printf '# written by one_node.sh\nName=gpu Type=made_up File=/dev/null\n' > /etc/slurm/gres.conf
    fi
    cat > "$conf" <<CONF
# written by one_node.sh
ClusterName=one
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=2
JobAcctGatherParams=OverMemoryKill
JobRequeue=1
SlurmctldTimeout=10
SlurmdTimeout=20
MinJobAge=600
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
$([ "$gpus" = 0 ] || echo "GresTypes=gpu")
NodeName=$node NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$memory $([ "$gpus" = 0 ] || echo "Gres=gpu:made_up:$gpus") State=UNKNOWN
PartitionName=main Nodes=$node Default=YES MaxTime=INFINITE State=UP
PartitionName=large Nodes=$node MaxTime=INFINITE State=UP
CONF
    runuser -u munge -- /usr/sbin/munged --pid-file=/run/munge/munged.pid --log-file=/run/munge/munged.log --force
    cp /run/munge/munged.pid "$folder/munged.pid"
    /usr/sbin/slurmctld -i -f "$conf"
    /usr/sbin/slurmd -f "$conf"
    for _ in {1..100}; do
        [ "$(sinfo --noheader --format=%t 2>/dev/null)" = idle ] && return
        sleep 0.2
    done
    tail -n 20 "$folder"/slurm*.log >&2
    stop
    fail "the node did not become idle"
}

case $command in start) start ;; stop) stop ;; *) fail "start or stop, not $command" ;; esac
