/** A folder of schemas, each a SQLite file, and a catalog that assigns their ids. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import sqlite from 'node-sqlite3-wasm';

const CATALOG =
  'create table if not exists schemas (id integer primary key autoincrement, owner text unique)';
const TABLES = `select name, (select json_group_object(name, type) from pragma_table_info(t.name)) as columns
  from sqlite_schema t where type = 'table' and name not like 'sqlite#_%' escape '#'`;

export class Schemas {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
    this.#in('catalog', (db) => db.exec(CATALOG));
  }

  /** The id of a new one. @param owner a mark to find it by if the response is lost */
  create(owner: string): string {
    const insert = 'insert into schemas (owner) values (?)';
    return String(this.#in('catalog', (db) => db.run(insert, owner)).lastInsertRowid);
  }

  /** The id of an existing one. */
  find(by: 'id' | 'owner', value: string): string | undefined {
    const select = `select cast(id as text) as id from schemas where ${by} = ?`;
    return this.#in('catalog', (db) => db.get(select, value) as { id: string } | null)?.id;
  }

  drop(id: string): void {
    rmSync(this.file(id), { force: true });
    this.#in('catalog', (db) => db.run('delete from schemas where id = ?', id));
  }

  /** Names of tables, and their columns as JSON: types by names. */
  tables = (id: string): { name: string; columns: string }[] =>
    this.#in(id, (db) => db.all(TABLES) as { name: string; columns: string }[]);

  /** Runs all statements or none. */
  change(id: string, ...statements: readonly string[]): void {
    this.#in(id, (db) => db.exec(['begin', ...statements, 'commit'].join(';\n')));
  }

  file = (id: string): string => join(this.#folder, `${id}.db`);

  #in<R>(id: string, work: (db: sqlite.Database) => R): R {
    const db = new sqlite.Database(this.file(id));
    try {
      return work(db);
    } finally {
      db.close();
    }
  }
}
