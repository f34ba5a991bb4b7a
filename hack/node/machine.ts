/**
 * A node on this machine: one process that holds network, mount, process and host name namespaces, and services in them.
 * When that process ends, the kernel ends all others, and removes interfaces, mounts and rules. It ends with this
 * process, however that ends.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { programPath } from './programs.ts';
import { addresses, files, folders, NODE_NAME } from './settings.ts';

const POLL_MS = 100;
const START_TIMEOUT_MS = 10_000;
/** As systemd does on a real node: a service that has ended is started again. */
const RESTART_AFTER_MS = 3_000;
const CGROUPS = '/sys/fs/cgroup';
const INTERFACE = NODE_NAME;

/** Network and places of files. The folders of the machine itself stay as they are. */
const SET_UP = `
hostname ${NODE_NAME}
ip link set lo up
ip addr add ${addresses.node}/24 dev eth0
ip link set eth0 up
ip route add default via ${addresses.machine}
sysctl -qw net.ipv4.ip_forward=1 net.bridge.bridge-nf-call-iptables=1
mount --bind ${folders.state}/var-lib /var/lib
mount --bind ${folders.state}/var-log /var/log
mount -t tmpfs tmpfs /run
mount --make-rshared /
mkdir -p /run/netns /var/lib/kubelet /var/lib/containerd
`;

export class Machine {
  readonly #holder: ChildProcess;
  /** Process that holds the namespaces, as this machine counts. */
  readonly #pid: number;
  readonly #services = new Map<string, ChildProcess>();
  #isStopping = false;

  private constructor(holder: ChildProcess, pid: number) {
    this.#holder = holder;
    this.#pid = pid;
  }

  /** @throws Error if a node is already running */
  static async start(): Promise<Machine> {
    if (existsSync(`/sys/class/net/${INTERFACE}`))
      throw new Error(`another node is running on this machine: it has a network interface ${INTERFACE}`);
    removeTraces();
    for (const folder of [join(folders.state, 'var-lib'), join(folders.state, 'var-log'), folders.registry])
      mkdirSync(folder, { recursive: true });
    rmSync(folders.logs, { recursive: true, force: true });
    mkdirSync(folders.logs, { recursive: true });
    makeCgroups();

    const namespaces = ['--net', '--mount', '--uts', '--pid', '--mount-proc', '--propagation', 'private'];
    const holder = spawn(
      'setpriv',
      ['--pdeathsig', 'KILL', 'unshare', ...namespaces, '--fork', '--kill-child=KILL', programPath('pause')],
      { stdio: 'ignore' },
    );
    const pid = await untilDefined('the process that holds the namespaces', () => {
      const [child] = childrenOf(holder.pid);
      return child !== undefined && commandOf(child) === 'pause' ? child : undefined;
    });
    const machine = new Machine(holder, pid);
    try {
      execute('ip', ['link', 'add', INTERFACE, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid)]);
      execute('ip', ['addr', 'add', `${addresses.machine}/24`, 'dev', INTERFACE]);
      execute('ip', ['link', 'set', INTERFACE, 'up']);
      machine.run('sh', ['-euc', SET_UP]);
      return machine;
    } catch (error) {
      await machine.stop();
      throw error;
    }
  }

  /** Runs a command in the node. @returns its output @throws Error if it fails */
  run(command: string, args: readonly string[]): string {
    return execute('nsenter', [...this.#enter(), command, ...args]);
  }

  /** Starts a service; if it ends, it is started again after RESTART_AFTER_MS. Its output is in folders.logs. */
  async startService(name: string, [command, ...args]: readonly string[]): Promise<void> {
    const log = openSync(join(folders.logs, `${name}.log`), 'a');
    const child = spawn('nsenter', [...this.#enter(), command ?? '', ...args], {
      stdio: ['ignore', log, log],
    });
    this.#services.set(name, child);
    child.once('exit', () => {
      rmSync(files.processId(name), { force: true });
      if (!this.#isStopping) void this.#restart(name, [command ?? '', ...args]);
    });
    const pid = await untilDefined(`the process of ${name}`, () => childrenOf(child.pid)[0]);
    writeFileSync(files.processId(name), String(pid));
  }

  async #restart(name: string, command: readonly string[]): Promise<void> {
    await pause(RESTART_AFTER_MS);
    while (existsSync(files.hold(name)) && !this.#isStopping) await pause(POLL_MS);
    if (!this.#isStopping) await this.startService(name, command);
  }

  /** Ends all processes of the node, and removes everything but logs, images and programs. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const ended = [this.#holder, ...this.#services.values()]
      .filter((child) => child.exitCode === null && child.signalCode === null)
      .map((child) => once(child, 'exit'));
    try {
      process.kill(this.#pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    await Promise.all(ended);
    await untilDefined('the end of the network of the node', () =>
      existsSync(`/sys/class/net/${INTERFACE}`) ? undefined : true,
    );
    removeTraces();
  }

  #enter(): readonly string[] {
    return ['-t', String(this.#pid), '--net', '--mount', '--pid', '--uts', '--'];
  }
}

/** Folders of cgroups: a single one in version 2, else one per controller, and perhaps one of version 2 beside them. */
const cgroupFolders = (): readonly string[] =>
  existsSync(join(CGROUPS, 'cgroup.controllers'))
    ? [CGROUPS]
    : readdirSync(CGROUPS, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => join(CGROUPS, name));

function makeCgroups(): void {
  for (const folder of cgroupFolders()) {
    const own = join(folder, NODE_NAME);
    mkdirSync(own, { recursive: true });
    // New cgroups of cpusets are empty: nothing could run in them.
    for (const name of ['cpuset.cpus', 'cpuset.mems'])
      if (existsSync(join(folder, name)) && existsSync(join(own, name)))
        writeFileSync(join(own, name), readFileSync(join(folder, name)));
  }
}

/** What a node leaves behind when its processes have ended. */
function removeTraces(): void {
  for (const folder of cgroupFolders()) removeCgroup(join(folder, NODE_NAME));
  rmSync(folders.state, { recursive: true, force: true });
}

/** The kernel removes a cgroup only if it has no children. */
function removeCgroup(folder: string): void {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeCgroup(join(folder, entry.name));
  rmdirSync(folder);
}

/** @throws Error with the output of a command that fails */
export function execute(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly input?: string } = {},
): string {
  const run = spawnSync(command, args, { ...options, encoding: 'utf8', maxBuffer: 64 << 20 });
  if (run.status === 0) return run.stdout;
  const reason = run.error?.message ?? `${run.stdout}${run.stderr}`.trim().split('\n').slice(-15).join('\n');
  throw new Error(`${command} ${args.slice(0, 6).join(' ')} failed: ${reason}`);
}

function childrenOf(pid: number | undefined): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

const commandOf = (pid: number): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return undefined;
  }
};

/** @throws Error after START_TIMEOUT_MS */
async function untilDefined<T>(what: string, read: () => T | undefined): Promise<T> {
  for (const end = Date.now() + START_TIMEOUT_MS; ;) {
    const value = read();
    if (value !== undefined) return value;
    if (Date.now() > end) throw new Error(`timed out after ${START_TIMEOUT_MS / 1000} s: ${what}`);
    await pause(POLL_MS);
  }
}
