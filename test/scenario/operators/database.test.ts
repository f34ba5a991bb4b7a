/** The database operator of the documentation, on an API server and with SQLite files in a folder of the test. */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import sqlite from 'node-sqlite3-wasm';
import { addDatabases, databases, type Database } from '../../../docs/samples/operators/database/operator.ts';
import { Schemas } from '../../../docs/samples/operators/database/schemas.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { TransportError } from '../../../src/runtime/errors.ts';
import type { Write } from '../../../src/runtime/types.ts';
import {
  configMaps,
  read,
  startOperatorCluster,
  startProcess,
  type AnyObj,
  type OperatorCluster,
  type OperatorProcess,
} from '../../support/operators.ts';
import { eventually } from '../../support/waiting.ts';

const sample = join(import.meta.dirname, '../../../docs/samples/operators/database');
const fromSample = (file: string): unknown => parseYaml(readFileSync(join(sample, file), 'utf8'));
const ended = () => new TransportError({ message: 'the process has ended', safeToRepeat: false });
const PENDING = 'espalier.dev/pending';

describe('the operator of databases', function () {
  this.timeout(60_000);
  let cluster: OperatorCluster;
  let operator: OperatorProcess | undefined;
  let namespace: string;
  let folder: string;
  before(async () => {
    cluster = await startOperatorCluster();
    await cluster.install(fromSample('databases.yaml') as AnyObj);
  });
  beforeEach(async () => {
    namespace = await cluster.namespace();
    folder = mkdtempSync(join(tmpdir(), 'espalier-databases-'));
    operator = undefined;
  });
  afterEach(async () => {
    await operator?.stop();
    // The operator of the next test sees all namespaces.
    if (await read(cluster, databases, key())) {
      await merge({ metadata: { finalizers: null } });
      await remove();
    }
    rmSync(folder, { recursive: true });
  });
  after(() => cluster?.stop());

  const key = (): string => `${namespace}/shop`;
  const stateKey = (): string => `${namespace}/shop-schema`;
  const start = async (schemas = new Schemas(folder)): Promise<OperatorProcess> =>
    (operator = await startProcess(cluster, (manager) => void addDatabases(manager, schemas)));
  /** Whatever is running has no effect any more, as if the process had been killed. */
  const kill = async (): Promise<void> => {
    if (operator) operator.client.fault = () => ended();
    await operator?.stop();
  };
  const restart = async (): Promise<void> => {
    await kill();
    await start();
  };
  const create = (): Promise<Database> => {
    const object = fromSample('database.yaml') as Database;
    object.metadata.namespace = namespace;
    return cluster.client.send({ verb: 'create', kind: databases, object });
  };
  const merge = (body: object): Promise<Database> =>
    cluster.client.send({ verb: 'merge', kind: databases, key: key(), body });
  const want = (tables: Database['spec']['tables']) => merge({ spec: { tables } });
  const remove = () => cluster.client.send({ verb: 'delete', kind: databases, key: key() });
  const status = async (): Promise<Database['status']> => (await read(cluster, databases, key()))?.status;
  const error = () => eventually('the status shows the error', async () => (await status())?.error);
  const file = () => eventually('the status says where it is', async () => (await status())?.file);
  const state = () => read(cluster, configMaps, stateKey());

  const inFile = <R>(path: string, work: (db: sqlite.Database) => R): R => {
    const db = new sqlite.Database(path);
    try {
      return work(db);
    } finally {
      db.close();
    }
  };
  const rows = (path: string, sql: string): unknown[] => inFile(path, (db) => db.all(sql));
  const columns = (path: string, table: string): string[] =>
    rows(path, `select name || ' ' || type as c from pragma_table_info('${table}')`).map(
      (row) => (row as { c: string }).c,
    );
  const catalog = (): unknown[] => rows(join(folder, 'catalog.db'), 'select id, owner from schemas');
  /** A row that has to survive every change. */
  const order = (path: string) =>
    inFile(path, (db) => db.run('insert into orders (customer, total) values (1, 9.5)'));

  it('RUN-65: creates a schema and its tables, and keeps the assigned id', async () => {
    await start();
    const { metadata } = await create();
    const path = await file();
    expect(path).to.equal(join(folder, '1.db'));
    expect(columns(path, 'customers')).to.deep.equal(['id INTEGER', 'email TEXT']);
    expect(columns(path, 'orders')).to.deep.equal(['customer INTEGER', 'total REAL']);
    expect(catalog()).to.deep.equal([{ id: 1, owner: metadata.uid }]);
    expect((await state())?.data).to.deep.equal({ id: '1' });
  });

  it('RUN-64: follows the spec: tables and columns are created and dropped, and the other rows stay', async () => {
    await start();
    await create();
    const path = await file();
    order(path);
    await want([
      {
        name: 'orders',
        columns: [
          { name: 'total', type: 'REAL' },
          { name: 'constructor', type: 'TEXT' },
        ],
      },
      { name: 'refunds', columns: [{ name: 'total', type: 'REAL' }] },
    ]);
    await eventually('the new table is there', () => columns(path, 'refunds').length > 0);
    await eventually('the column is there', () => columns(path, 'orders').includes('constructor TEXT'));
    expect(columns(path, 'customers')).to.deep.equal([]);
    expect(rows(path, 'select * from orders')).to.deep.equal([{ total: 9.5, constructor: null }]);
  });

  it('refuses to change the type of a column, reports it, and continues with the other tables', async () => {
    await start();
    await create();
    const path = await file();
    await want([
      { name: 'orders', columns: [{ name: 'total', type: 'TEXT' }] },
      { name: 'refunds', columns: [{ name: 'total', type: 'REAL' }] },
    ]);
    expect(await error()).to.include('column total of table orders is REAL; a new type needs a new name');
    expect(columns(path, 'orders')).to.deep.equal(['customer INTEGER', 'total REAL']);
    await want([{ name: 'orders', columns: [{ name: 'sum', type: 'TEXT' }] }]);
    await eventually('the error is gone', async () => (await status())?.error === undefined);
    expect(columns(path, 'orders')).to.deep.equal(['sum TEXT']);
  });

  it('RUN-36: recreates a table that a user dropped', async () => {
    await start();
    await create();
    const path = await file();
    inFile(path, (db) => {
      db.exec('drop table orders');
    });
    await eventually('it is there again', () => columns(path, 'orders').length === 2);
  });

  it('RUN-65: finds what it created after a restart, and continues with it', async () => {
    await start();
    const { spec, metadata } = await create();
    const path = await file();
    order(path);
    await restart();
    await want([...spec.tables, { name: 'refunds', columns: [{ name: 'total', type: 'REAL' }] }]);
    await eventually('the new table is there', () => columns(path, 'refunds').length > 0);
    expect(catalog()).to.deep.equal([{ id: 1, owner: metadata.uid }]);
    expect(rows(path, 'select total from orders')).to.deep.equal([{ total: 9.5 }]);
    expect(operator?.client.writes.filter((write) => write.includes('ConfigMap'))).to.deep.equal([]);
  });

  it('RUN-65: deletes everything with the object: tables, file, catalog, state', async () => {
    await start();
    await create();
    await file();
    await remove();
    await eventually('the object is gone', async () => !(await read(cluster, databases, key())));
    expect(catalog()).to.deep.equal([]);
    expect(readdirSync(folder)).to.deep.equal(['catalog.db']);
    expect(await state()).to.equal(undefined);
  });

  describe('if the process ends after the creation, before the record of it', () => {
    const noting = (write: Write): boolean => write.verb === 'merge' && write.kind.kind === 'ConfigMap';
    /** The first record says that a schema will be created; the second, with its id, never arrives. */
    const crash = async (): Promise<void> => {
      const { client } = await start();
      let isOver = false;
      client.fault = (write) => {
        isOver ||= noting(write);
        return isOver ? ended() : undefined;
      };
      await create();
      await eventually('it has ended', () => isOver);
      await kill();
      expect(catalog()).to.have.length(1);
      const { data, metadata } = (await state()) ?? {};
      expect(data ?? {}).to.deep.equal({});
      expect(metadata?.annotations).to.include.keys(PENDING);
    };

    it('finds the created schema by its mark, and creates nothing twice', async () => {
      await crash();
      await start();
      expect(await file()).to.equal(join(folder, '1.db'));
      expect(catalog()).to.have.length(1);
      const { data, metadata } = (await state()) ?? {};
      expect(data).to.deep.equal({ id: '1' });
      expect(metadata?.annotations).to.not.include.keys(PENDING);
    });

    it('leaves nothing behind if the object was deleted meanwhile', async () => {
      await crash();
      await remove();
      await start();
      await eventually('the object is gone', async () => !(await read(cluster, databases, key())));
      expect(catalog()).to.deep.equal([]);
    });
  });

  it('creates the schema after a restart if the process ended before the creation', async () => {
    class Unreachable extends Schemas {
      isAsked = false;
      override create(): string {
        this.isAsked = true;
        if (operator) operator.client.fault = () => ended();
        throw new Error('no answer');
      }
    }
    const schemas = new Unreachable(folder);
    await start(schemas);
    await create();
    await eventually('it has ended', () => schemas.isAsked);
    await kill();
    expect((await state())?.metadata.annotations).to.include.keys(PENDING);
    await start();
    expect(await file()).to.equal(join(folder, '1.db'));
    expect((await state())?.data).to.deep.equal({ id: '1' });
  });
});
