/** The compiler does these tests: the objects of a request have the type of its kind. */
import { expect } from 'chai';
import { ClusterRoleBinding, ConfigMap, Secret, type RoleBinding } from '../../../src/runtime/core-kinds.ts';
import type { Caches, Client, Kind, Obj, Store, Write } from '../../../src/runtime/types.ts';

/** Kinds of an operator: all fields of one are also fields of the other. */
interface Page extends Obj {
  kind: 'Page';
  spec?: { html?: string };
}
interface Site extends Obj {
  kind: 'Site';
  spec?: { html?: string; host?: string };
}
const kindOf = <T>(kind: string, plural: string): Kind<T> => ({
  group: 'example.org',
  version: 'v1',
  kind,
  plural,
  namespaced: true,
});
const pages = kindOf<Page>('Page', 'pages');
const sites = kindOf<Site>('Site', 'sites');
const anyKind: Kind = pages;

const configMap: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: {} };
const any: Obj = configMap;
const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, data: {} };

describe('the type of a kind', () => {
  it('is that of the objects that are read', () => {
    const reads = (client: Client, caches: Caches): readonly unknown[] => [
      client.get(ConfigMap, 'a/b').then(({ binaryData }) => binaryData),
      client.get<ConfigMap>(ConfigMap, 'a/b'),
      client.get<Obj>(ConfigMap, 'a/b'),
      client.get(anyKind, 'a/b'),
      client.list<Page>(pages, {}),
      // @ts-expect-error a Secret is not a ConfigMap
      client.get<ConfigMap>(Secret, 'a/b'),
      // @ts-expect-error neither in a list
      client.list<ConfigMap>(Secret, {}),
      // @ts-expect-error nor in a watch
      client.watch<ConfigMap>(Secret, {}, AbortSignal.abort()),
      // @ts-expect-error nor in a cache
      caches.of<ConfigMap>(Secret),
      // @ts-expect-error kinds with the same fields differ, too
      client.get<RoleBinding>(ClusterRoleBinding, 'a/b'),
      // @ts-expect-error so do those of an operator
      client.get<Page>(sites, 'a/b'),
      // @ts-expect-error a kind whose type is not known is not a ConfigMap
      client.get<ConfigMap>(anyKind, 'a/b'),
    ];
    // @ts-expect-error a cache of Secrets does not contain ConfigMaps
    const cached = (caches: Caches): Store<ConfigMap> => caches.of(Secret);
    expect([reads, cached]).to.have.length(2);
  });

  it('is that of the objects that are written', () => {
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap' as const,
      metadata: { name: 'a' },
      data: { b: 'c' },
    };
    const sends = (client: Client): readonly unknown[] => [
      client.send({ verb: 'create', kind: ConfigMap, object }),
      client.send({ verb: 'replace', kind: ConfigMap, object: configMap }).then(({ data }) => data),
      client.send<Obj>({ verb: 'create', kind: ConfigMap, object: secret }),
      // @ts-expect-error a Secret is not a ConfigMap
      client.send({ verb: 'create', kind: ConfigMap, object: secret }),
      // @ts-expect-error neither in an apply
      client.send({ verb: 'apply', kind: ConfigMap, object: secret, manager: 'm', force: true }),
      // @ts-expect-error an object of any kind does not decide the type: the kind does
      client.send({ verb: 'create', kind: ConfigMap, object: any }),
      // @ts-expect-error the result has the type of the kind
      client.send<ConfigMap>({ verb: 'delete', kind: Secret, key: 'a/b' }),
    ];
    // @ts-expect-error also where the write is prepared
    const write: Write<ConfigMap> = { verb: 'merge', kind: Secret, key: 'a/b', body: {} };
    // @ts-expect-error the name in the object is checked
    const named: ConfigMap = { ...configMap, kind: 'Secret' };
    expect([sends, write, named]).to.have.length(3);
  });
});
