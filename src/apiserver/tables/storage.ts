/** Table cells of volumes and CSI drivers. */
import { table } from '../../lib/objects.ts';
import { at, listAt, orNone, textAt, type PrinterRows } from './cells.ts';

const MODES: Readonly<Record<string, string>> = table({
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
});

export const accessModes = (modes: unknown): string =>
  ((modes ?? []) as string[]).map((mode) => MODES[mode] ?? mode).join(',');

const UNSET = '<unset>';

function claimText(volume: unknown): string {
  const claim = at(volume, 'spec', 'claimRef');
  return claim === undefined ? '' : `${textAt(claim, 'namespace')}/${textAt(claim, 'name')}`;
}

export const storagePrinters: PrinterRows = {
  PersistentVolume: [
    [
      'Name',
      'Capacity',
      'Access Modes',
      'Reclaim Policy',
      'Status',
      'Claim',
      'StorageClass',
      'VolumeAttributesClass',
      'Reason',
      'Age',
      'VolumeMode*',
    ],
    (volume, age) => [
      volume.metadata.name,
      textAt(volume, 'spec', 'capacity', 'storage'),
      accessModes(at(volume, 'spec', 'accessModes')),
      textAt(volume, 'spec', 'persistentVolumeReclaimPolicy'),
      volume.metadata.deletionTimestamp === undefined ? textAt(volume, 'status', 'phase') : 'Terminating',
      claimText(volume),
      textAt(volume, 'spec', 'storageClassName'),
      orNone(textAt(volume, 'spec', 'volumeAttributesClassName'), UNSET),
      textAt(volume, 'status', 'reason'),
      age(),
      orNone(textAt(volume, 'spec', 'volumeMode'), UNSET),
    ],
  ],
  'storage.k8s.io/CSIDriver': [
    [
      'Name',
      'AttachRequired?',
      'PodInfoOnMount?',
      'StorageCapacity?',
      'TokenRequests',
      'RequiresRepublish?',
      'Modes',
      'Age',
    ],
    (driver, age) => {
      const spec = at(driver, 'spec');
      const audiences = listAt(spec, 'tokenRequests').map((request) => textAt(request, 'audience'));
      return [
        driver.metadata.name,
        at(spec, 'attachRequired') !== false,
        at(spec, 'podInfoOnMount') === true,
        at(spec, 'storageCapacity') === true,
        orNone(audiences.join(','), UNSET),
        at(spec, 'requiresRepublish') === true,
        orNone(((at(spec, 'volumeLifecycleModes') ?? []) as string[]).join(',')),
        age(),
      ];
    },
  ],
  'storage.k8s.io/CSINode': [
    ['Name', 'Drivers#', 'Age'],
    (node, age) => [node.metadata.name, listAt(node, 'spec', 'drivers').length, age()],
  ],
  'storage.k8s.io/VolumeAttachment': [
    ['Name', 'Attacher!', 'PV', 'Node', 'Attached?', 'Age'],
    (attachment, age) => [
      attachment.metadata.name,
      textAt(attachment, 'spec', 'attacher'),
      textAt(attachment, 'spec', 'source', 'persistentVolumeName'),
      textAt(attachment, 'spec', 'nodeName'),
      at(attachment, 'status', 'attached') === true,
      age(),
    ],
  ],
};
