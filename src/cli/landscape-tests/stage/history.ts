/** What happened to the nodes of trees, in order, as the watches deliver it. */
import { isFinalPhase, isFinished, parentInstallation } from '../../../api/job.ts';
import type { DeployItem } from '../../../api/kinds/deployitem.ts';
import type { Installation } from '../../../api/kinds/installation.ts';
import { annotations, labels } from '../../../api/labels.ts';
import { joinKey, keyOf } from '../../../runtime/keys.ts';
import type { View } from '../../../lib/objects.ts';
import type { Touched } from '../coverage/coverage.ts';
import type { Happening } from '../file/order-entry.ts';
import { rootPath } from './paths.ts';

export interface HistoryEvent {
  readonly path: string;
  readonly what: Happening;
  readonly atMs: number;
}

type Watched = View<Installation> | View<DeployItem>;

export class History {
  readonly #home: string;
  readonly #now: () => number;
  readonly #installations = new Map<string, View<Installation>>();
  readonly #paths = new Map<string, string>();
  readonly #started = new Map<string, string>();
  readonly #ended = new Map<string, string>();
  readonly #imports = new Set<string>();
  readonly events: HistoryEvent[] = [];

  constructor(home: string, now: () => number) {
    this.#home = home;
    this.#now = now;
  }

  changed(object: Watched): void {
    if (object.kind === 'Installation') this.#installations.set(keyOf(object), object as View<Installation>);
    const { uid = '' } = object.metadata;
    const { jobID = '', phase = '' } = object.status ?? {};
    if (jobID === '') return;
    if (this.#started.get(uid) !== jobID && hasStarted(object)) {
      this.#started.set(uid, jobID);
      this.#add(object, 'started');
    }
    if (this.#ended.get(uid) === jobID || !isFinished(object)) return;
    this.#ended.set(uid, jobID);
    this.#add(object, 'ended');
    if (isFinalPhase(phase)) this.#add(object, phase === 'Succeeded' ? 'succeeded' : 'failed');
  }

  deleted(object: Watched): void {
    this.#add(object, 'deleted');
  }

  /** The path of an object; known even after its parents are deleted. */
  pathOf(object: Watched): string {
    const { uid = '', name, namespace, labels: own = {} } = object.metadata;
    const known = this.#paths.get(uid);
    if (known !== undefined) return known;
    const isItem = object.kind === 'DeployItem';
    const parent = isItem ? own[labels.executionManagedBy] : parentInstallation(object.metadata);
    const above = parent === undefined ? undefined : this.#installations.get(joinKey(namespace, parent));
    if (!above) return rootPath(name, namespace, this.#home);
    const title = isItem
      ? own[labels.executionName]
      : object.metadata.annotations?.[annotations.subinstallationName];
    const path = `${this.pathOf(above)}/${title ?? name}`;
    this.#paths.set(uid, path);
    return path;
  }

  /** What has been rendered, for the coverage. */
  get touched(): Omit<Touched, 'branches'> {
    const paths = (what: Happening): readonly string[] => [
      ...new Set(this.events.filter((event) => event.what === what).map(({ path }) => path)),
    ];
    return { started: paths('started'), succeeded: paths('succeeded'), imports: [...this.#imports] };
  }

  #add(object: Watched, what: Happening): void {
    if (what === 'started' && object.kind === 'Installation')
      for (const name of importNames(object as View<Installation>))
        this.#imports.add(`${this.pathOf(object)} ${name}`);
    this.events.push({ path: this.pathOf(object), what, atMs: this.#now() });
  }
}

/**
 * An installation receives its job before its predecessors have ended, and waits in Init. If it fails there, it has not
 * started.
 */
const hasStarted = ({ kind, status }: Watched): boolean =>
  kind === 'DeployItem' ||
  !['', 'Init', 'InitDelete', 'Failed', 'DeleteFailed'].includes(status?.phase ?? '');

const importNames = ({
  spec: { imports, importDataMappings = {} },
}: View<Installation>): readonly string[] => [
  ...[...(imports?.data ?? []), ...(imports?.targets ?? [])].map(({ name }) => name),
  ...Object.keys(importDataMappings),
];
