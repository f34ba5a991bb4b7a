import { findBinaries } from '../../hack/envtest/binaries.ts';
import { clientAndCache } from '../conformance/runtime/client-and-cache.ts';
import { startEnvtest } from '../support/envtest.ts';
import { leftOut } from '../support/skip.ts';

if (findBinaries() === undefined) {
  leftOut(
    'the client and the cache on a real API server',
    'there is no kube-apiserver here: make test-envtest builds one',
  );
} else {
  clientAndCache('a real API server', startEnvtest);
}
