/** The development API server with a landscaper on it, for as long as a command needs both. */
import { startEmbedded, type Embedded, type EmbeddedOptions } from './embedded.ts';
import { startLandscaper, type Landscaper, type LandscaperOptions } from './landscaper.ts';

interface EmbeddedStage {
  readonly embedded: Embedded;
  readonly landscaper: Landscaper;
}

interface EmbeddedLandscaperOptions extends Omit<LandscaperOptions, 'kubeconfig' | 'log'> {
  /** What is done before the controllers start: they find in their caches what it creates. */
  readonly prepare?: (embedded: Embedded) => Promise<void>;
}

/** Ends both when `use` has ended, however it did. @throws what starting either, and `use`, throws */
export async function withEmbeddedLandscaper<T>(
  server: EmbeddedOptions,
  { prepare, ...options }: EmbeddedLandscaperOptions,
  use: (stage: EmbeddedStage) => Promise<T>,
): Promise<T> {
  const embedded = await startEmbedded(server);
  try {
    const { log } = server;
    await prepare?.(embedded);
    const landscaper = await startLandscaper({ kubeconfig: { text: embedded.kubeconfig }, log, ...options });
    try {
      return await use({ embedded, landscaper });
    } finally {
      await landscaper.stop();
    }
  } finally {
    await embedded.close();
  }
}
