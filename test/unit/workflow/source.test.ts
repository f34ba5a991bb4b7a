/** The watches that dependents on the controller's own cluster read from. */
import { expect } from 'chai';
import { keepAppliedBy } from '../../../src/runtime/cache/transforms.ts';
import type { Source } from '../../../src/runtime/sources/sources.ts';
import type { Cache, CacheOptions, Caches, Kind, Obj } from '../../../src/runtime/types.ts';
import type { Setup } from '../../../src/workflow/dependent.ts';
import { kubernetesSource, type SourceChoice } from '../../../src/workflow/source.ts';
import { parts, widgets, type Part, type Widget } from '../runtime/support/world.ts';

type Choice = SourceChoice<Part, Widget>;
const sourceOf = (choice: Partial<Choice> = {}, needsManagedFields = false) =>
  kubernetesSource<Part, Widget>(
    { name: 'part', kind: parts, ...choice },
    'espalier.dev',
    needsManagedFields,
  );

/** Caches that record requests for caches, with their options. */
function setupOf(isSeparate: boolean) {
  const asked: [string, CacheOptions<Obj>][] = [];
  const release = (): void => undefined;
  const cacheOf = (how: string, kind: Kind, options: CacheOptions<Obj>): Cache<Obj> => {
    asked.push([how, options]);
    return { kind } as Cache<Obj>;
  };
  const caches = {
    of: (kind: Kind, options: CacheOptions<Obj>) => cacheOf('shared', kind, options),
    separate: (kind: Kind, options: CacheOptions<Obj>) => ({
      cache: cacheOf('separate', kind, options),
      release,
    }),
  } as unknown as Caches;
  const controller = { name: 'widgets', kind: widgets, fieldManager: 'me' };
  const setup: Setup<Widget> = { controller, caches, isSeparate };
  return { asked, release, setup };
}

describe('the name of a source', () => {
  const toPrimary = () => [];
  const rows: [string, Partial<Choice>, string][] = [
    ['is the kind', {}, 'parts.example.io'],
    ['has no group in the core group', { kind: { ...parts, group: '' } }, 'parts'],
    ['has the selector', { selector: 'app=web' }, 'parts.example.io[app=web]'],
    ['has the namespaces', { namespaces: ['a', 'b'] }, 'parts.example.io[ns=a,b]'],
    ['has the dependent if that has its own mapper', { toPrimary }, 'parts.example.io[by part]'],
    [
      'has the dependent if its primaries name the objects',
      { toSecondary: () => [] },
      'parts.example.io[by part]',
    ],
    [
      'has all of them',
      { selector: 'app=web', namespaces: ['a'], toPrimary },
      'parts.example.io[ns=a][app=web][by part]',
    ],
    ['has the dependent if that has its own filter', { filter: {} }, 'parts.example.io[filter of part]'],
    ['is the chosen one', { source: 'cms', selector: 'app=web' }, 'cms'],
    ['is the chosen one of a source that others create', { source: { from: 'cms' } }, 'cms'],
  ];
  for (const [title, choice, name] of rows) {
    it(title, () => {
      expect(sourceOf(choice).source).to.equal(name);
    });
  }
});

describe('a source of a dependent', () => {
  const transform = keepAppliedBy('me');
  for (const [title, choice, options] of [
    ['watches all objects of its kind', {}, { transform }],
    ['watches the objects with its labels', { selector: 'app=web' }, { labels: 'app=web', transform }],
    ['watches in its namespaces', { namespaces: ['a'] }, { namespaces: ['a'], transform }],
  ] as const) {
    it(title, () => {
      const { asked, setup } = setupOf(false);
      const made = sourceOf(choice).createSource?.(setup);
      expect(asked).to.deep.equal([['shared', options]]);
      expect(made).not.to.have.property('release');
      expect(made?.source.kind).to.equal(parts);
    });
  }
  it('has a separate cache, to be released, if it is not permanent', () => {
    const { asked, release, setup } = setupOf(true);
    const made = sourceOf().createSource?.(setup);
    expect(asked.map(([how]) => how)).to.deep.equal(['separate']);
    expect(made?.release).to.equal(release);
  });
  it('is not created by a dependent that uses that of another', () => {
    expect(sourceOf({ source: { from: 'cms' } })).not.to.have.property('createSource');
  });
});

describe('the check of a source', () => {
  const { setup } = setupOf(false);
  const cache = (shows: boolean) => ({ showsFieldsOf: () => shows }) as unknown as Cache<Obj>;
  const source = (more: Partial<Source<Widget>>): Source<Widget> => ({
    name: 'cms',
    stage: 'normal',
    attach: () => expect.fail('nothing is attached'),
    ...more,
  });
  const check =
    (made: Source<Widget> | undefined, needsManagedFields = false) =>
    () => {
      sourceOf({ source: 'cms' }, needsManagedFields).check(setup, made);
    };
  for (const [title, made, needsManagedFields] of [
    ['a source that does not exist yet', undefined, true],
    ['a source of its kind', source({ kind: parts }), false],
    ['a source that keeps managed fields', source({ kind: parts, cache: cache(true) }), true],
    [
      'a source that drops managed fields if they are not compared',
      source({ kind: parts, cache: cache(false) }),
      false,
    ],
    ['a source of another version of its kind', source({ kind: { ...parts, version: 'v2' } }), false],
  ] as const) {
    it(`accepts ${title}`, () => {
      expect(check(made, needsManagedFields)).not.to.throw();
    });
  }
  for (const [title, made, message] of [
    ['another kind', source({ kind: widgets }), 'which holds Widget of example.io/v1'],
    [
      'its kind in another group',
      source({ kind: { ...parts, group: 'other.io' } }),
      'which holds Part of other.io/v1',
    ],
    ['no objects', source({}), 'which holds no objects of a cluster'],
  ] as const) {
    it(`rejects a source of ${title}`, () => {
      expect(check(made)).to.throw(
        `dependent "part" reads Part of example.io/v1 from source cms, ${message}`,
      );
    });
  }
  it('rejects a source that drops the managed fields that are compared', () => {
    expect(check(source({ kind: parts, cache: cache(false) }), true)).to.throw(
      'give its cache the transform keepAppliedBy("me")',
    );
  });
});
