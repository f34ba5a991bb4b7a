import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Store } from '../../../src/apiserver/store/storage.ts';
import type { KubeObject } from '../../../src/apiserver/types.ts';
import { DataUnusable, FileLog } from '../../../src/apiserver/store/wal.ts';
import { FakeClock } from '../../support/clock.ts';

describe('the file log', () => {
  let dir: string;
  const clock = new FakeClock();

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'espalier-wal-'));
  });
  afterEach(() => {
    rmSync(dir, { recursive: true });
  });

  const open = (): { store: Store; log: FileLog } => {
    const store = new Store({ events: 100, seconds: 0 }, () => clock.now());
    return { store, log: new FileLog(dir, store, clock) };
  };
  const object = (name: string): KubeObject => ({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name } });
  const put = (store: Store, name: string): void =>
    void store.commit('/configmaps', `ns/${name}`, undefined, object(name));
  const keys = (store: Store): string[] => store.resource('/configmaps').keys('');

  it('restores committed writes, and continues to count', () => {
    const first = open();
    put(first.store, 'a');
    put(first.store, 'b');
    first.store.commit('/configmaps', 'ns/a', undefined, undefined);
    first.log.close();
    const second = open();
    expect(keys(second.store)).to.deep.equal(['ns/b']);
    expect(second.store.rev).to.equal(3);
    put(second.store, 'c');
    expect(second.store.get('/configmaps', 'ns/c')?.rev).to.equal(4);
    second.log.close();
  });

  it('loses nothing when a snapshot is written, whether a write is before or after it', () => {
    const first = open();
    put(first.store, 'before');
    first.log.snapshot();
    put(first.store, 'after');
    first.log.close();
    const second = open();
    expect(keys(second.store)).to.deep.equal(['ns/after', 'ns/before']);
    expect(second.store.rev).to.equal(2);
    second.log.close();
  });

  it('does not replay writes that are in the snapshot if the old log still exists', () => {
    const first = open();
    put(first.store, 'a');
    first.store.commit('/configmaps', 'ns/a', undefined, undefined);
    put(first.store, 'b');
    const log = readFileSync(join(dir, 'log.jsonl'));
    first.log.snapshot();
    first.log.close();
    writeFileSync(join(dir, 'log.jsonl'), log);
    const second = open();
    expect(keys(second.store)).to.deep.equal(['ns/b']);
    expect(second.store.rev).to.equal(3);
    second.log.close();
  });

  it('drops a truncated last line, and continues after the complete ones', () => {
    const first = open();
    put(first.store, 'a');
    first.log.close();
    writeFileSync(join(dir, 'log.jsonl'), `${readFileSync(join(dir, 'log.jsonl'), 'utf8')}{"rev":2,"resou`);
    const second = open();
    put(second.store, 'b');
    second.log.close();
    const third = open();
    expect(keys(third.store)).to.deep.equal(['ns/a', 'ns/b']);
    third.log.close();
  });

  it('rejects damaged data, and names file and line', () => {
    const first = open();
    put(first.store, 'a');
    first.log.close();
    const file = join(dir, 'log.jsonl');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"resource"', '"resource'));
    expect(open).to.throw(DataUnusable, /log\.jsonl, line 2 is damaged/);
  });

  it('ends older watches, because their history is gone', () => {
    const first = open();
    put(first.store, 'a');
    first.log.close();
    const second = open();
    expect(second.store.resource('/configmaps').compactedBefore).to.equal(1);
    expect(second.store.resource('/secrets').compactedBefore).to.equal(1);
    second.log.close();
  });
});
