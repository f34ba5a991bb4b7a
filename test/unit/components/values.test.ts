/** Values computed from components, without any requests. */
import { expect } from 'chai';
import { unpackArchives } from '../../../src/components/archive.ts';
import { createContentCache } from '../../../src/components/cache.ts';
import { parseChallenge } from '../../../src/components/challenge.ts';
import { addressOf, openRepository } from '../../../src/components/context.ts';
import { filesOfArchive } from '../../../src/components/ctf.ts';
import { Credentials, dockerCredentials, ocmCredentials } from '../../../src/components/credentials.ts';
import { readDescriptor, toV2, toV3 } from '../../../src/components/descriptor.ts';
import { sha256, verifyDigest } from '../../../src/components/digest.ts';
import {
  ContentInvalid,
  DescriptorInvalid,
  ReferenceInvalid,
  RepositoryUnusable,
} from '../../../src/components/errors.ts';
import { componentFunctions } from '../../../src/components/functions.ts';
import { parseImageReference } from '../../../src/components/image-reference.ts';
import { repositoryPathOf, tagOf } from '../../../src/components/oci-repository.ts';
import { describeOverwrite, overwritten } from '../../../src/components/overwrites.ts';
import { parseComponentUri, parseRelativeReference } from '../../../src/components/relative-reference.ts';
import { fits, readResolvers } from '../../../src/components/resolvers.ts';
import { packed } from '../../../src/lib/gzip.ts';
import { readText } from '../../../src/lib/file-tree.ts';
import { writeTar } from '../../../src/lib/tar.ts';
import { image, reference, rootComponent } from '../../support/components.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

describe('a component descriptor', () => {
  it('is the same in both forms', () => {
    const component = readDescriptor(rootComponent);
    expect(toV2(component)).to.deep.equal(rootComponent);
    const newer = toV3(component);
    expect(newer).to.have.nested.property('metadata.provider.name', 'example');
    expect(newer).not.to.have.nested.property('spec.sources');
    expect(toV2(readDescriptor(newer))).to.deep.equal(rootComponent);
  });

  it('may lack optional fields, and a resource without a version has that of its component', () => {
    const component = readDescriptor({
      meta: { schemaVersion: 'v2' },
      component: { name: 'a', version: '3', resources: [{ name: 'r', type: 't' }], sources: null },
    });
    expect(component.resources[0]?.version).to.equal('3');
    expect(component.references).to.deep.equal([]);
  });

  const wrong: readonly [string, unknown, string][] = [
    ['has no version', { meta: { schemaVersion: 'v2' }, component: { name: 'a' } }, 'component.version'],
    ['has an unknown schema version', { meta: { schemaVersion: 'v9' }, component: {} }, 'meta.schemaVersion'],
    ['is a string', 'text', 'not valid'],
  ];
  for (const [title, document, message] of wrong) {
    it(`is rejected if it ${title}`, () => {
      expect(() => readDescriptor(document)).to.throw(DescriptorInvalid, message);
    });
  }
});

describe('a reference to a resource', () => {
  const good: readonly [string, string[], string][] = [
    ['cd://resources/bp', [], 'bp'],
    ['cd://componentReferences/a/componentReferences/b/resources/bp', ['a', 'b'], 'bp'],
    ['cd://componentReferences/a/resources/schema#/definitions/x', ['a'], 'schema'],
  ];
  for (const [uri, path, resource] of good) {
    it(`is read: ${uri}`, () => {
      expect(parseComponentUri(uri)).to.deep.equal({
        path: path.map((name) => ({ name })),
        resource: { name: resource },
      });
    });
  }

  it('may be YAML, with extra identity', () => {
    expect(
      parseRelativeReference('resource: {name: a, kind: chart}\nreferencePath: [{name: b}]'),
    ).to.deep.equal({ path: [{ name: 'b' }], resource: { name: 'a', kind: 'chart' } });
  });

  const bad: readonly [string, string][] = [
    ['http://resources/x', 'scheme must be cd but given http'],
    ['cd://resources', 'even number of path arguments expected'],
    ['cd://things/x', 'unknown keyword things'],
    ['cd://resources/x/resources/y', 'nothing may follow the resource'],
    ['cd://componentReferences/x', 'it names no resource'],
    [`cd://resources/${'x'.repeat(2083)}`, 'longer than 2083 characters'],
  ];
  for (const [uri, message] of bad) {
    it(`is rejected: ${uri.slice(0, 60)}`, () => {
      expect(() => parseComponentUri(uri)).to.throw(ReferenceInvalid, message);
    });
  }
});

describe('a reference to an image', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const good: readonly [string, string, string, string][] = [
    ['example.org/charts/web:1.2.3', 'example.org', 'charts/web', '1.2.3'],
    ['localhost:5000/web', 'localhost:5000', 'web', 'latest'],
    [`example.org/web:1@${digest}`, 'example.org', 'web', digest],
    ['nginx', 'registry-1.docker.io', 'library/nginx', 'latest'],
    ['team/app:2', 'registry-1.docker.io', 'team/app', '2'],
  ];
  for (const [text, host, repository, found] of good) {
    it(`is read: ${text.slice(0, 60)}`, () => {
      expect(parseImageReference(text)).to.deep.equal({ host, repository, reference: found });
    });
  }
  for (const text of [
    '',
    'example.org/../secret:1',
    'example.org/a b',
    'user@example.org/x',
    'example.org/x@sha256:12',
  ]) {
    it(`is rejected: "${text}"`, () => {
      expect(() => parseImageReference(text)).to.throw(ReferenceInvalid);
    });
  }
});

describe('a challenge of a registry', () => {
  it('may request a token', () => {
    expect(
      parseChallenge(
        'Bearer realm="https://auth.example/token",service="reg",scope="repository:a/b:pull,push"',
      ),
    ).to.deep.equal({
      scheme: 'bearer',
      realm: 'https://auth.example/token',
      service: 'reg',
      scope: 'repository:a/b:pull,push',
    });
  });
  it('may request a password; a token is preferred', () => {
    expect(parseChallenge('Basic realm="x"')).to.deep.equal({ scheme: 'basic' });
    expect(parseChallenge('Basic realm="x", Bearer realm="https://a/t"')).to.include({ scheme: 'bearer' });
  });
  it('may be of an unsupported kind', () => {
    for (const header of [undefined, 'Negotiate', 'Bearer realm="no url"'])
      expect(parseChallenge(header)).to.equal(undefined);
  });
});

describe('credentials', () => {
  const auth = (text: string) => ({ auth: Buffer.from(text).toString('base64') });
  const docker = (auths: object) => dockerCredentials(JSON.stringify({ auths }), 'here');

  it('are found by host and the longest path', () => {
    const found = docker({
      'https://example.org/v1/': auth('a:1'),
      'example.org/team': auth('b:2:3'),
      'other.org:5000': { username: 'c', password: '4' },
    });
    expect(found.for('example.org', 'x/y')).to.deep.equal({ username: 'a', password: '1' });
    expect(found.for('example.org', 'team/app')).to.deep.equal({ username: 'b', password: '2:3' });
    expect(found.for('example.org', 'teamwork/app')?.username).to.equal('a');
    expect(found.for('other.org:5000', 'x')?.username).to.equal('c');
    expect(found.for('other.org', 'x')).to.equal(undefined);
    expect(found.for('evil-example.org', 'x')).to.equal(undefined);
  });

  it("of Docker's own registry have several names", () => {
    expect(
      docker({ 'https://index.docker.io/v1/': auth('a:1') }).for('registry-1.docker.io', 'library/x')
        ?.username,
    ).to.equal('a');
  });

  it('may be in the form of OCM', () => {
    const text = `type: credentials.config.ocm.software
consumers:
- identity: {type: OCIRegistry, hostname: example.org, port: 5000, pathprefix: /team}
  credentials: [{type: Credentials, properties: {username: a, password: b}}]`;
    const found = ocmCredentials(text, 'here');
    expect(found.for('example.org:5000', 'team/x')).to.deep.equal({ username: 'a', password: 'b' });
    expect(found.for('example.org:5000', 'x')).to.equal(undefined);
  });

  it('are not repeated in the message if they cannot be read', () => {
    for (const read of [dockerCredentials, ocmCredentials]) {
      const message = (() => {
        try {
          read('{"auths": hunter2', 'secret a/b');
        } catch (error) {
          expect(error).to.be.instanceOf(RepositoryUnusable);
          return (error as Error).message;
        }
        return '';
      })();
      expect(message).to.contain('secret a/b').and.not.to.contain('hunter2');
    }
  });

  it('may be empty', () => expect(Credentials.none.for('example.org', 'x')).to.equal(undefined));
});

describe('overwrites', () => {
  const original = { repositoryContext: { type: 'A' }, componentName: 'x', version: '1' };
  const rows: readonly [string, Parameters<typeof overwritten>[1], object][] = [
    [
      'match anything if they have no conditions',
      [{ source: {}, substitution: { version: '2' } }],
      { version: '2' },
    ],
    ['do not match another name', [{ source: { componentName: 'y' }, substitution: { version: '2' } }], {}],
    [
      'do not match another repository',
      [{ source: { repositoryContext: { type: 'B' } }, substitution: { version: '2' } }],
      {},
    ],
    [
      'are all compared with the original reference',
      [
        { source: { version: '1' }, substitution: { version: '2' } },
        { source: { version: '1' }, substitution: { componentName: 'z' } },
      ],
      { version: '2', componentName: 'z' },
    ],
    [
      'are skipped as a whole if a field was replaced before',
      [
        { source: {}, substitution: { version: '2' } },
        { source: {}, substitution: { version: '3', componentName: 'z' } },
      ],
      { version: '2' },
    ],
  ];
  for (const [title, entries, changed] of rows) {
    it(title, () => {
      expect(overwritten(original, entries)).to.deep.equal({ ...original, ...changed });
    });
  }

  it('are reported line by line', () => {
    expect(describeOverwrite(original, { ...original, componentName: 'z' })).to.equal(
      'Component reference has been overwritten:\nRepositoryContext has not been overwritten\nx -> z\nVersion has not been overwritten',
    );
    expect(describeOverwrite(original, original)).to.equal(undefined);
  });
});

describe('resolvers', () => {
  const found = readResolvers(
    `type: generic.config.ocm.software/v1
configurations:
- type: other
- type: ocm.config.ocm.software
  resolvers:
  - {prefix: example.org, priority: 1, repository: {type: A}}
  - {prefix: example.org/leaf, repository: {type: B}}
  - {repository: {type: C}, priority: 100}
  - {prefix: broken}`,
    'here',
  );
  it('are ordered by priority', () => {
    expect(found.map(({ repository }) => repository['type'])).to.deep.equal(['C', 'B', 'A']);
  });
  it('match whole parts of names', () => {
    const names = ['example.org/leaf', 'example.org/leaf/x', 'example.org/leaflet'];
    expect(names.map((name) => fits(found[1]!, name))).to.deep.equal([true, true, false]);
  });
});

describe('an archive with a blueprint', () => {
  const file = (path: string, text = 'x') => [path, bytes(text)] as const;
  it('may be compressed, and later archives take precedence', async () => {
    const files = await unpackArchives(
      [writeTar([file('./a/b', 'old'), file('c')]), packed(writeTar([file('a/b', 'new')]))],
      'it',
    );
    expect(readText(files, '/a/b')).to.equal('new');
    expect(files.list('/')?.map(({ name }) => name)).to.deep.equal(['a', 'c']);
  });

  const wrong: readonly [string, Uint8Array, string][] = [
    ['has a path out of its folder', writeTar([file('../../etc/passwd')]), 'leads out of the archive'],
    [
      'has a path that leaves its folder and returns',
      writeTar([file('a/../../x')]),
      'leads out of the archive',
    ],
    ['has an absolute path', writeTar([file('/etc/passwd')]), 'leads out of the archive'],
    ['is not an archive', bytes('no archive at all'.repeat(100)), 'not a valid archive'],
    ['is damaged', packed(writeTar([file('a')])).subarray(0, 40), 'not a valid archive'],
    ['has an endless path', writeTar([file(`${'a/'.repeat(3000)}b`)]), 'has more than 4096 bytes'],
    ['has endless folders', writeTar([file(`${'a/'.repeat(255)}b`)]), 'has more than 255 parts'],
    ['is too large', writeTar([['a', Buffer.alloc(2000)]]), 'more than 1000 bytes'],
    [
      'unpacks to too many bytes',
      packed(Buffer.alloc(1_000_000)),
      'not a valid archive: more than 2000 bytes',
    ],
  ];
  for (const [title, archive, message] of wrong) {
    it(`is rejected if it ${title}`, async () => {
      const error: unknown = await unpackArchives([archive], 'it', 1000).catch((failure: unknown) => failure);
      expect(error).to.be.instanceOf(ContentInvalid).with.property('message').that.contains(message);
    });
  }

  /** Changes the type of the entry whose header is at the start. */
  const retyped = (archive: Buffer, flag: string, target = ''): Buffer => {
    archive.write(flag, 156);
    archive.write(target, 157);
    archive.write('        ', 148);
    const sum = archive.subarray(0, 512).reduce((total, byte) => total + byte, 0);
    archive.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return archive;
  };
  const plain = (path: string, text = '') => Buffer.from(writeTar([file(path, text)]));
  const refusalOf = (archive: Uint8Array): Promise<unknown> =>
    unpackArchives([archive], 'it').catch((failure: unknown) => failure);

  it('is rejected if a link leads out of it', async () => {
    expect(await refusalOf(retyped(plain('link'), '2', '../../etc')))
      .to.be.instanceOf(ContentInvalid)
      .with.property('message')
      .that.contains('leads out');
  });

  it('is rejected if the target of a link is too long', async () => {
    const target = retyped(plain('long', `${'a/'.repeat(3000)}b`), 'K').subarray(0, 512 + 6144);
    expect(await refusalOf(Buffer.concat([target, retyped(plain('link'), '2')])))
      .to.be.instanceOf(ContentInvalid)
      .with.property('message', 'it: the target of the link "link" has more than 4096 bytes');
  });

  it('is rejected if it has too many folders for the memory', async () => {
    const deep = (i: number): string => `${String(i)}/${'a/'.repeat(253)}b`;
    const archive = packed(writeTar(Array.from({ length: 400 }, (_, i) => file(deep(i)))));
    expect(await refusalOf(archive))
      .to.be.instanceOf(ContentInvalid)
      .with.property('message', 'it: there are more than 100000 folders');
  });
});

describe('a repository in files', () => {
  const endless = { l: { $type: 'symlink', value: 'x/'.repeat(200_000) } };
  for (const field of ['fileSystem', 'blobFs']) {
    it(`is rejected if a link in ${field} is too long`, async () => {
      const opening = openRepository(
        { type: 'inline', [field]: endless },
        { maxFileBytes: 1000, registry: () => expect.fail('no registry is needed') },
      );
      expect(await opening.catch((failure: unknown) => failure))
        .to.be.instanceOf(RepositoryUnusable)
        .with.property('message')
        .that.equals(
          `${field} of the repository context cannot be used: the target of the symlink "l" has more than 4096 bytes`,
        );
    });
  }

  it('is rejected if a path in its archive is too long', async () => {
    const archive = writeTar([[`${'a/'.repeat(3000)}b`, bytes('x')]]);
    const error: unknown = await filesOfArchive(archive, 'it').catch((failure: unknown) => failure);
    expect(error)
      .to.be.instanceOf(ContentInvalid)
      .with.property('message')
      .that.matches(/^it is not a valid archive: the path "a\/.{198}…" has more than 4096 bytes$/);
  });
});

describe('the cache of contents', () => {
  it('holds a limited number of bytes, and drops the least recently used', async () => {
    const cache = createContentCache(10_000);
    const loads: string[] = [];
    const get = (key: string, size = 4_000) =>
      cache.get(key, () => {
        loads.push(key);
        return Promise.resolve(new Uint8Array(size));
      });
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await get(key);
    expect(loads).to.deep.equal(['a', 'b', 'c', 'b']);
    expect(cache.facts.size).to.be.at.most(10_000);
    await get('huge', 11_000);
    await get('a');
    expect(loads.filter((key) => key === 'a')).to.have.length(1);
  });

  it('loads once if several callers need the same content at a time, and does not keep failures', async () => {
    const cache = createContentCache(10);
    let loads = 0;
    const load = (): Promise<Uint8Array> => {
      loads++;
      return loads === 1 ? Promise.reject(new Error('no')) : Promise.resolve(new Uint8Array(1));
    };
    const both = await Promise.allSettled([cache.get('a', load), cache.get('a', load)]);
    expect(both.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    await cache.get('a', load);
    expect(loads).to.equal(2);
  });
});

describe('in a registry', () => {
  it('a component has a path by its name or by the hash of it, and a tag without plus', () => {
    expect(repositoryPathOf({ prefix: 'team', mapping: 'urlPath' }, 'example.org/a')).to.equal(
      'team/component-descriptors/example.org/a',
    );
    expect(repositoryPathOf({ prefix: '', mapping: 'sha256-digest' }, 'example.org/a')).to.match(
      /^[0-9a-f]{64}$/,
    );
    expect(tagOf('1.0.0+x.1')).to.equal('1.0.0.build-x.1');
    expect(() => repositoryPathOf({ prefix: '', mapping: 'urlPath' }, '../../x')).to.throw(ReferenceInvalid);
  });
  it('an address has a host and a path, and never credentials', () => {
    expect(addressOf('https://example.org:5000/a/b/')).to.deep.equal({
      host: 'https://example.org:5000',
      path: 'a/b',
    });
    expect(addressOf('example.org')).to.deep.equal({ host: 'example.org', path: '' });
    expect(() => addressOf('user:pass@example.org'))
      .to.throw(RepositoryUnusable)
      .with.property('message')
      .that.does.not.contain('pass');
  });
  it('a content has to match its digest', () => {
    expect(() => {
      verifyDigest(bytes('a'), sha256(bytes('a')), 'it');
    }).not.to.throw();
    for (const digest of [sha256(bytes('b')), 'md5:abc', 'sha256:zz']) {
      expect(() => {
        verifyDigest(bytes('a'), digest, 'it');
      }).to.throw(ContentInvalid);
    }
  });
});

describe('template functions for components', () => {
  const functions = componentFunctions(undefined);
  it('work with a given descriptor, without a component of the installation', () => {
    expect(functions.getResource([rootComponent, 'name', 'text'])).to.include({ type: 'plainText' });
    expect(functions.getRepositoryContext([rootComponent])).to.include({ type: 'OCIRegistry' });
  });
  it('name missing resources', () => {
    expect(() => functions.getResource(['name', 'x'])).to.throw(
      'Unable to search for a resource as no ComponentDescriptor is defined.',
    );
    expect(() => functions.getResourceKey(['cd://resources/x'])).to.throw(
      'unable to use this function without ocm component version',
    );
    expect(() => functions.getResource([rootComponent, 'name', 5])).to.throw(
      'keys and values must be strings',
    );
  });
  it('distinguish references by more than the name', () => {
    const two = ['a', 'b'].map((kind) =>
      reference('leaf', `example.org/${kind}`, '1', { extraIdentity: { kind } }),
    );
    const cd = {
      ...rootComponent,
      component: { ...rootComponent.component, componentReferences: two, resources: [image('i', 'x/y:1')] },
    };
    expect(() => functions.getComponent([cd, 'name', 'leaf', 'kind', 'b'])).to.throw(
      'unable to resolve component example.org/b:1',
    );
  });
});
