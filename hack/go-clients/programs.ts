/** The programs in Go that test/clients runs. */
import { join } from 'node:path';
import type { GoModule } from '../go/module.ts';

export const goClients: GoModule = { name: 'go-clients', folder: import.meta.dirname };

/** The sample of a deployer in another language. */
export const fileDeployer: GoModule = {
  name: 'file-deployer',
  folder: join(import.meta.dirname, '../../docs/samples/deployers/go'),
};
