/** The provenance of a release. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { baseOf, provenanceOf, type Materials } from '../../../hack/release/provenance.ts';

const HASH = 'ab'.repeat(32);
const materials: Materials = {
  version: '1.2.3',
  platforms: ['linux/arm64'],
  repository: 'https://git.example.org/espalier',
  commit: 'c0ffee',
  lockFile: '{}',
  base: { image: 'node:26.10.0-slim', digest: `sha256:${HASH}` },
};

interface Statement {
  readonly subject: readonly { readonly name: string }[];
  readonly predicate: { readonly buildDefinition: { readonly resolvedDependencies: readonly object[] } };
}
const statement = (changes: Partial<Materials> = {}): Statement =>
  provenanceOf(
    new Map([
      ['b.tgz', 'b1'],
      ['a.tgz', 'a1'],
    ]),
    { ...materials, ...changes },
  ) as Statement;
const dependencies = (changes: Partial<Materials>): readonly object[] =>
  statement(changes).predicate.buildDefinition.resolvedDependencies;

describe('the provenance of a release', () => {
  it('names each file with its digest, in a fixed order', () => {
    expect(statement().subject).to.deep.equal([
      { name: 'a.tgz', digest: { sha256: 'a1' } },
      { name: 'b.tgz', digest: { sha256: 'b1' } },
    ]);
    expect(statement()).to.include({
      _type: 'https://in-toto.io/Statement/v1',
      predicateType: 'https://slsa.dev/provenance/v1',
    });
  });

  it('names the commit, the locked packages and the base image', () => {
    expect(dependencies({})).to.deep.equal([
      { name: 'source', uri: 'git+https://git.example.org/espalier@c0ffee', digest: { gitCommit: 'c0ffee' } },
      {
        name: 'package-lock.json',
        digest: { sha256: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a' },
      },
      { name: 'node:26.10.0-slim', digest: { sha256: HASH } },
    ]);
  });

  it('takes the digest of a base image from its name, and claims none that is unknown', () => {
    expect(dependencies({ base: { image: `node@sha256:${HASH}` } })[2]).to.deep.equal({
      name: 'node',
      digest: { sha256: HASH },
    });
    expect(dependencies({ base: { image: 'node:1.2.3' } })[2]).to.deep.equal({ name: 'node:1.2.3' });
    expect(dependencies({ base: undefined, repository: undefined })).to.have.length(2);
    expect(dependencies({ repository: undefined })[0]).to.not.have.property('uri');
  });

  it('finds the base image of the Dockerfile', () => {
    const text = readFileSync(join(import.meta.dirname, '../../../Dockerfile'), 'utf8');
    expect(baseOf(text)).to.match(/^node:\d+\.\d+\.\d+/);
    expect(baseOf('FROM scratch\n')).to.equal(undefined);
  });
});
