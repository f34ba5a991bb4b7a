import { expect } from 'chai';
import { manifestConfig } from '../../../../deployers/manifest/config.ts';
import { CodecError } from '../../../../deployers/sdk/codec.ts';
import { manifestConfig as document } from '../bench.ts';
import { describeSchema } from '../whole-configurations.ts';

for (const title of ['manifest', 'manifest of old']) describeSchema(title);

it('a manifest that is not an object is refused with its place', () => {
  for (const entry of [7, null])
    expect(() => manifestConfig.decode(document({ manifests: [entry] }))).to.throw(
      CodecError,
      'manifests[0]: expected an object',
    );
});
