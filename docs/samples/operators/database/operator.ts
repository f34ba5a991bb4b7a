/** A schema in a database for each Database, with the tables in its spec. */
import { NoRetryError, type Kind, type Manager, type Obj, type View } from 'espalier/runtime';
import { addWorkflowController, externalBulk, polledPerPrimary, withState } from 'espalier/workflow';
import type { Schemas } from './schemas.ts';

export interface Database extends Obj {
  spec: { tables: { name: string; columns: { name: string; type: string }[] }[] };
  status?: { file?: string; error?: string };
}

export const databases: Kind<Database> = {
  group: 'db.example.org',
  version: 'v1',
  kind: 'Database',
  plural: 'databases',
  namespaced: true,
};

interface Table {
  readonly schema: string;
  readonly name: string;
  /** Types by names. */
  readonly columns: Readonly<Record<string, string>>;
}

const q = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The statements that change one into the other. Rows stay. */
function alterations({ columns: present }: View<Table>, { name, columns }: Table): string[] {
  const added = Object.entries(columns).filter(([column]) => !Object.hasOwn(present, column));
  const dropped = Object.keys(present).filter((column) => !Object.hasOwn(columns, column));
  for (const [column, type] of Object.entries(present).filter(([c]) => !dropped.includes(c)))
    if (columns[column] !== type)
      throw new NoRetryError({
        message: `column ${column} of table ${name} is ${type}; a new type needs a new name`,
      });
  return [
    ...added.map(([column, type]) => `alter table ${q(name)} add column ${q(column)} ${type}`),
    ...dropped.map((column) => `alter table ${q(name)} drop column ${q(column)}`),
  ];
}

/** Adds the database controller to a manager. */
export function addDatabases(manager: Manager, schemas: Schemas) {
  const ownedBy = async ({ metadata }: View<Database>) => {
    const id = schemas.find('owner', metadata.uid ?? '');
    return id === undefined ? undefined : { id };
  };

  const schema = withState<{ id: string }, Database>({
    name: 'schema',
    stateOf: ({ id }) => ({ id }),
    fetch: async ({ id = '' }) => (schemas.find('id', id) ? { id } : undefined),
    desired: () => ({ id: 'given out when it is created' }),
    create: async (_, { metadata }) => ({ id: schemas.create(metadata.uid ?? '') }),
    recover: ownedBy,
    delete: async ({ id }) => schemas.drop(id),
  });

  const idOf = ({ name }: Table): string => name;
  const tables = externalBulk<Table, Database>({
    name: 'tables',
    idOf,
    actualValues: polledPerPrimary<Table, Database>({
      name: 'tables',
      idOf,
      async fetch(database) {
        const { id } = (await ownedBy(database)) ?? {};
        if (id === undefined) return [];
        return schemas.tables(id).map(({ name, columns }) => {
          return { schema: id, name, columns: JSON.parse(columns) as Table['columns'] };
        });
      },
    }),
    async desiredAll(database, ctx) {
      const { id = '' } = (await schema.actual(database, ctx)) ?? {};
      const wanted = database.spec.tables.map(({ name, columns }) => {
        return { schema: id, name, columns: Object.fromEntries(columns.map((c) => [c.name, c.type])) };
      });
      return new Map(wanted.map((table) => [table.name, table]));
    },
    async create(table) {
      const columns = Object.entries(table.columns).map(([column, type]) => `${q(column)} ${type}`);
      schemas.change(table.schema, `create table ${q(table.name)} (${columns.join(', ')})`);
      return table;
    },
    async update(actual, table) {
      schemas.change(table.schema, ...alterations(actual, table));
      return table;
    },
    delete: async (table) => schemas.change(table.schema, `drop table ${q(table.name)}`),
  });

  return addWorkflowController<Database>(manager, {
    name: 'databases',
    kind: databases,
    workflow: { nodes: [{ use: schema }, { use: tables, dependsOn: ['schema'] }] },
    reconciler: {
      async reconcile(database, ctx) {
        const { id = '' } = (await schema.actual(database, ctx)) ?? {};
        return { write: 'status', object: { ...ctx.draft(), status: { file: schemas.file(id) } } };
      },
      async onError(database, ctx, error) {
        const status = { ...ctx.draft(), status: { ...database.status, error: String(error) } };
        return { retry: true, status };
      },
    },
  });
}
