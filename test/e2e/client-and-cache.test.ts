import { findBinaries } from '../../hack/envtest/binaries.ts';
import { clientAndCache } from '../conformance/runtime/client-and-cache.ts';
import { startEnvtest } from '../support/envtest.ts';

if (findBinaries() === undefined) {
  it.skip('the client and the cache on a real API server (not built)');
} else {
  clientAndCache('a real API server', startEnvtest);
}
