/**
 * Compares store and overlay with a model: the server's whole history, the progress of the watch in it, and which of
 * our own writes have been answered. The newer of watch and answered write has to be read.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { Overlay } from '../../../src/runtime/cache/overlay.ts';
import { ObjectStore } from '../../../src/runtime/cache/store.ts';
import type { Change, Obj } from '../../../src/runtime/types.ts';
import { compareVersions } from '../../../src/runtime/cache/versions.ts';

const NAMES = ['a', 'b'];
const everything = (): boolean => true;

interface Moment {
  readonly version: number;
  readonly name: string;
  /** Undefined: the object is deleted from here on. */
  readonly obj: Obj | undefined;
}

class World {
  readonly store = new ObjectStore<Obj>(compareVersions);
  readonly overlay = new Overlay<Obj>(this.store, compareVersions);
  readonly history: Moment[] = [];
  /** Own writes that the server has executed and not yet answered. */
  readonly underWay: Moment[] = [];
  /** The newest own write that was answered, by name. */
  readonly answered = new Map<string, Moment>();
  /** The version up to which the watch has reported. */
  seen = 100;
  #uid = 0;

  get version(): number {
    return this.history.at(-1)?.version ?? 100;
  }

  at(name: string, version = Infinity): Obj | undefined {
    return this.history.findLast((each) => each.name === name && each.version <= version)?.obj;
  }

  write(name: string): Moment {
    const version = this.version + 1;
    const uid = this.at(name)?.metadata.uid ?? `uid-${String(++this.#uid)}`;
    const metadata = { name, uid, resourceVersion: String(version) };
    const moment = { version, name, obj: { apiVersion: 'v1', kind: 'Thing', metadata } };
    this.history.push(moment);
    return moment;
  }

  remove(name: string): void {
    if (this.at(name)) this.history.push({ version: this.version + 1, name, obj: undefined });
  }

  own(name: string): void {
    this.overlay.begin(name);
    this.underWay.push(this.write(name));
  }

  ownFails(name: string): void {
    this.overlay.begin(name);
    this.overlay.end(name);
  }

  answer(index: number): void {
    const [moment] = this.underWay.splice(index % Math.max(1, this.underWay.length), 1);
    if (!moment?.obj) return;
    this.overlay.put(moment.name, moment.obj, true);
    this.overlay.end(moment.name);
    if ((this.answered.get(moment.name)?.version ?? 0) < moment.version)
      this.answered.set(moment.name, moment);
  }

  /** The watch reports the next event. */
  tell(): void {
    const moment = this.history.find(({ version }) => version > this.seen);
    if (!moment) return;
    const { name, version, obj } = moment;
    if (obj) this.#observe(this.store.put(obj, 'event'));
    else {
      const last = this.at(name, version - 1) as Obj;
      const gone = { ...last, metadata: { ...last.metadata, resourceVersion: String(version) } };
      this.#observe(this.store.delete(gone));
    }
    this.seen = version;
  }

  /** The watch has lost its version and lists everything as it is now, or as it was a few events ago. */
  relist(back: number): void {
    const version = Math.max(this.seen, this.version - back);
    for (const name of NAMES) {
      const obj = this.at(name, version);
      this.#observe(obj ? this.store.put(obj, 'relist') : this.store.forget(name));
    }
    this.overlay.relisted(String(version), everything);
    this.seen = version;
  }

  #observe(changes: readonly Change<Obj>[]): void {
    for (const change of changes) this.overlay.observe(change);
  }

  read(name: string): string | undefined {
    const entry = this.overlay.get(name);
    return (entry ? entry.obj : this.store.get(name))?.metadata.resourceVersion;
  }

  expected(name: string): string | undefined {
    const own = this.answered.get(name);
    const newest = own && own.version > this.seen ? own.obj : this.at(name, this.seen);
    return newest?.metadata.resourceVersion;
  }
}

const name = fc.constantFrom(...NAMES);
const step = fc.oneof(
  fc.record({ op: fc.constant('write' as const), name }),
  fc.record({ op: fc.constant('remove' as const), name }),
  fc.record({ op: fc.constant('own' as const), name }),
  fc.record({ op: fc.constant('ownFails' as const), name }),
  fc.record({ op: fc.constant('answer' as const), n: fc.nat(3) }),
  fc.record({ op: fc.constant('tell' as const) }),
  fc.record({ op: fc.constant('tell' as const) }),
  fc.record({ op: fc.constant('relist' as const), n: fc.nat(3) }),
);

describe('the overlay and its model', () => {
  it('agree on the newer of watch and own write, and the overlay is empty at the end', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const world = new World();
        for (const each of steps) {
          switch (each.op) {
            case 'tell':
              world.tell();
              break;
            case 'answer':
              world.answer(each.n);
              break;
            case 'relist':
              world.relist(each.n);
              break;
            default:
              world[each.op](each.name);
          }
          for (const known of NAMES) expect(world.read(known)).to.equal(world.expected(known));
        }
        while (world.underWay.length > 0) world.answer(0);
        while (world.seen < world.version) world.tell();
        for (const known of NAMES) {
          expect(world.read(known)).to.equal(world.at(known)?.metadata.resourceVersion);
        }
        expect(world.overlay.size).to.equal(0);
      }),
      { numRuns: 1_000 },
    );
  }).timeout(60_000);
});
