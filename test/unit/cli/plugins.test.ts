import { expect } from 'chai';
import { defaults } from '../../../src/cli/configuration/configuration.ts';
import { itemTypes } from '../../../src/cli/names.ts';
import { pluginsByType } from '../../../src/cli/composition/plugins.ts';
import { FakeCluster } from '../deployers/fake-cluster.ts';

describe('cli/plugins', () => {
  it('finds the deployers by the types of their names', () => {
    const ending = new AbortController();
    try {
      const types = [...pluginsByType(defaults, new FakeCluster(), ending.signal).keys()];
      expect(types).to.have.members(Object.values(itemTypes));
    } finally {
      ending.abort();
    }
  });
});
