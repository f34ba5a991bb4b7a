/** The inspection of a component version where it is stored. */
import { expect } from 'chai';
import { readDescriptor } from '../../../src/components/descriptor.ts';
import { inspect } from '../../../src/components/inspect.ts';
import { componentDigest } from '../../../src/components/normalise.ts';
import type { Repository } from '../../../src/components/repository.ts';
import { blob, descriptor, reference } from '../../support/components.ts';

const NORMAL = { hashAlgorithm: 'SHA-256', normalisationAlgorithm: 'jsonNormalisation/v2' };
const bare = readDescriptor(descriptor('a.b/bare', '1', []));
const stripped = readDescriptor(
  descriptor('a.b/stripped', '1', [blob('text', 'plainText', 'text/plain', 'x')]),
);
const repository: Repository = {
  name: 'here',
  context: {},
  find(name) {
    const component = [bare, stripped].find((one) => one.name === name);
    return Promise.resolve(component && { component, repository: this });
  },
  localBlob: () => Promise.reject(new TypeError('nobody reads a blob')),
};

describe('an inspected component', () => {
  it('has unverified references if a component below lacks a digest', async () => {
    const references = [bare, stripped].map((one) =>
      reference(one.name.slice('a.b/'.length), one.name, '1', {
        digest: { ...NORMAL, value: componentDigest(one, NORMAL) },
      }),
    );
    const component = readDescriptor(descriptor('a.b/root', '1', [], references));
    expect(await inspect({ component, repository }, undefined)).to.deep.equal({
      verified: [],
      notFetched: [],
      problems: [],
      unverified: ['reference stripped'],
    });
  });
});
