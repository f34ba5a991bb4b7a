import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { UsageError } from '../../../src/cli/errors.ts';
import { mustBeWritable, nameOf, readYamlFile } from '../../../src/cli/files.ts';

describe('files that options name', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'files-'));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  it('are reported with the line if they are not valid YAML, without the content of the line', () => {
    const path = join(folder, 'bad.yaml');
    writeFileSync(path, 'user: a\npassword: [hunter2\n');
    expect(() => readYamlFile(path))
      .to.throw(UsageError, /bad\.yaml is not valid YAML; see line \d$/)
      .with.property('message')
      .that.not.contains('hunter2');
  });

  it('are called standard input if they are', () => {
    expect(nameOf('-')).to.equal('standard input');
    expect(nameOf('a.yaml')).to.equal('a.yaml');
  });

  it('can be checked before there is anything to write', () => {
    mustBeWritable(join(folder, 'new.json'));
    mustBeWritable('new.json');
    expect(() => {
      mustBeWritable(join(folder, 'nowhere/new.json'));
    }).to.throw(UsageError, /cannot write .*nowhere\/new\.json \(ENOENT\)/);
  });
});
