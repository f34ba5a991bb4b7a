/** A kind with two versions: v1alpha1 has a time of day, v1 a cron expression and a retention. */
import { crdOf } from 'espalier/crd';
import { conversionOf, withAnnotation, type Kind, type Obj } from 'espalier/runtime';
import { z } from 'zod';

const alphaSpec = z.object({
  hour: z.int().min(0).max(23).describe('When the backup starts, in UTC.'),
  keep: z.int().min(1).optional().describe('Number of backups that are kept.'),
});

const spec = z.object({
  schedule: z.object({ cron: z.string().describe('When the backup starts, in UTC.') }),
  retention: z
    .object({ count: z.int().min(1) })
    .optional()
    .describe('Which backups are kept.'),
});

export interface BackupAlpha extends Obj {
  spec: z.output<typeof alphaSpec>;
}

export interface Backup extends Obj {
  spec: z.output<typeof spec>;
}

const kind = { group: 'backup.example.org', kind: 'Backup', plural: 'backups', namespaced: true } as const;

export const backups: Kind<Backup> = { ...kind, version: 'v1' };
export const backupsAlpha: Kind<BackupAlpha> = { ...kind, version: 'v1alpha1' };

export const crd = crdOf({
  kind: backups,
  description: 'A daily backup.',
  schema: z.object({ spec }),
  versions: [{ version: 'v1alpha1', schema: z.object({ spec: alphaSpec }), deprecated: true }],
  conversion: { service: { namespace: 'backups', name: 'backup-operator' } },
});

const CRON = 'backup.example.org/cron';

/** A cron expression that is not an hour is kept in an annotation of v1alpha1. */
export const conversion = conversionOf(backups).spoke(backupsAlpha, {
  toHub({ metadata, spec: { hour, keep } }) {
    const stored = metadata.annotations?.[CRON];
    const cron = stored !== undefined && hourOf(stored) === hour ? stored : `0 ${String(hour)} * * *`;
    return {
      metadata: withAnnotation(metadata, CRON, undefined),
      spec: { schedule: { cron }, ...(keep !== undefined && { retention: { count: keep } }) },
    };
  },
  fromHub({ metadata, spec: { schedule, retention } }) {
    const { cron } = schedule;
    const hour = hourOf(cron);
    const isExact = cron === `0 ${String(hour)} * * *`;
    return {
      metadata: withAnnotation(metadata, CRON, isExact ? undefined : cron),
      spec: { hour, ...(retention && { keep: retention.count }) },
    };
  },
});

/** The first hour of a cron expression, or 0. */
function hourOf(cron: string): number {
  const hour = Number.parseInt(cron.split(' ')[1] ?? '', 10);
  return hour >= 0 && hour < 24 ? hour : 0;
}
