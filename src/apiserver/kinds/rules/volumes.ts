/** Rules of volumes, in pods and as objects. */
import { table } from '../../../lib/objects.ts';
import * as field from '../../schema/field-errors.ts';
import { OBJECT_META } from '../../schema/shape.ts';
import type { FieldError, JsonObject } from '../../types.ts';
import { isObject } from '../../types.ts';
import {
  between,
  countOf,
  isAbsent,
  isEmpty,
  label,
  matching,
  mustBeSubdomain,
  oneOf,
  required,
  requires,
  structOf,
  unlessEmpty,
  type MemberRule,
  type RuleTable,
  type StructRule,
  type TypeRules,
} from './vocabulary.ts';

const TWO_TYPES = 'may not specify more than 1 volume type';

/** In the order in which upstream finds them. */
const POD_SOURCES = [
  'emptyDir hostPath gitRepo gcePersistentDisk awsElasticBlockStore secret nfs iscsi glusterfs flocker',
  'persistentVolumeClaim rbd cinder cephfs quobyte downwardAPI fc flexVolume configMap azureFile vsphereVolume',
  'photonPersistentDisk portworxVolume azureDisk storageos projected scaleIO csi ephemeral',
].flatMap((line) => line.split(' '));

const PERSISTENT_SOURCES = [
  'hostPath gcePersistentDisk awsElasticBlockStore glusterfs flocker nfs rbd quobyte cephfs iscsi cinder fc',
  'flexVolume azureFile vsphereVolume photonPersistentDisk portworxVolume azureDisk scaleIO local storageos csi',
].flatMap((line) => line.split(' '));

/** As upstream spells them in messages. */
const SHOWN = table({ cephfs: 'cephFS', downwardAPI: 'downwarAPI' });

const oneSource =
  (sources: readonly string[], uncounted: readonly string[] = []): StructRule =>
  (volume, path) =>
    sources
      .filter((source) => !isAbsent(volume[source]))
      .slice(1)
      .filter((source) => !uncounted.includes(source))
      .map((source) => field.forbidden(`${path}.${SHOWN[source] ?? source}`, TWO_TYPES));

const absolute: MemberRule = matching(/^\//, 'must be an absolute path');
const absoluteIfAny: MemberRule = (value, path, owner) => absolute(value ?? '', path, owner);
const keyAndPath: TypeRules = { members: { key: [required()], path: [required()] } };

const HOST_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

const DISK_URI = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

const azureDisk: TypeRules = {
  members: {
    diskName: [required()],
    diskURI: [
      required(),
      (value, path, { kind }) =>
        kind === 'Managed' || field.plainText(value).startsWith('https:')
          ? []
          : [field.notSupported(path, value ?? '', [DISK_URI])],
    ],
  },
};

const iscsi: TypeRules = {
  members: {
    targetPortal: [required()],
    iqn: [required()],
    initiatorName: [matching(/^(?:iqn|eui|naa)\./, 'must be valid format starting with iqn, eui, or naa')],
  },
  shown: { initiatorName: 'initiatorname' },
  together: [
    (source, path) =>
      (source['chapAuthDiscovery'] === true || source['chapAuthSession'] === true) &&
      isAbsent(source['secretRef'])
        ? [field.required(`${path}.secretRef`)]
        : [],
  ],
};

const channel: StructRule = ({ targetWWNs, wwids }, path) =>
  isEmpty(targetWWNs) === isEmpty(wwids)
    ? [field.required(`${path}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both')]
    : [];

const dataset: StructRule = ({ datasetName, datasetUUID }, path) =>
  isEmpty(datasetName) && isEmpty(datasetUUID)
    ? [field.required(path, 'one of datasetName and datasetUUID is required')]
    : [];

/** Upstream leaves the index out of these paths. */
function downwardErrors(file: JsonObject, path: string): FieldError[] {
  const at = path.replace(/\.items\[\d+\]$/, '');
  const errors: FieldError[] = [];
  if (isEmpty(file['path'])) errors.push(field.required(`${at}.path`));
  const { fieldRef, resourceFieldRef } = file;
  if (isObject(fieldRef)) {
    if (isEmpty(fieldRef['fieldPath'])) errors.push(field.required(`${at}.fieldRef.fieldPath`));
    if (!isAbsent(resourceFieldRef))
      errors.push(
        field.invalid(at, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'),
      );
  } else if (isObject(resourceFieldRef)) {
    for (const member of ['containerName', 'resource'])
      if (isEmpty(resourceFieldRef[member])) errors.push(field.required(`${at}.resourceFieldRef.${member}`));
  } else errors.push(field.required(at, 'one of fieldRef and resourceFieldRef is required'));
  return errors;
}

const PROJECTIONS = ['secret', 'configMap', 'downwardAPI', 'serviceAccountToken', 'clusterTrustBundle'];

const oneProjection: StructRule = (source, path) =>
  countOf(source, PROJECTIONS) > 1
    ? [field.forbidden(path, 'may not specify more than 1 volume type per source')]
    : [];

const tokenPath: StructRule = (source, path) =>
  isAbsent(source['serviceAccountToken']) || !isEmpty(structOf(source['serviceAccountToken'])['path'])
    ? []
    : [field.required(`${path.replace(/\.sources\[\d+\]$/, '')}.path`)];

/** What a template of claims must not set. */
const UNSETTABLE = [...OBJECT_META].filter((member) => member !== 'annotations' && member !== 'labels');

const templateMetadata: StructRule = ({ metadata }, path) =>
  UNSETTABLE.filter((member) => !isEmpty(structOf(metadata)[member])).map((member) =>
    field.forbidden(`${path}.metadata.${member === 'uid' ? 'uID' : member}`, 'cannot be set'),
  );

const storageRequest: MemberRule = (resources, path) =>
  isAbsent(structOf(structOf(resources)['requests'])['storage']) ? [field.required(`${path}[storage]`)] : [];

function claimSources({ dataSource, dataSourceRef }: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [member, source] of Object.entries({ dataSource, dataSourceRef }))
    if (isObject(source) && isEmpty(source['apiGroup']) && source['kind'] !== 'PersistentVolumeClaim')
      errors.push(
        field.invalid(
          `${path}.${member}`,
          field.plainText(source['kind']),
          "must be 'PersistentVolumeClaim' when referencing the default apiGroup",
        ),
      );
  const isSame = (member: string): boolean =>
    (structOf(dataSource)[member] ?? '') === (structOf(dataSourceRef)[member] ?? '');
  if (isObject(dataSource) && isObject(dataSourceRef) && !['apiGroup', 'kind', 'name'].every(isSame))
    errors.push(field.invalid(path, {}, 'must match dataSourceRef'));
  return errors;
}

const attributesClass: StructRule = ({ volumeAttributesClassName: name, csi }, path) => [
  ...(name === ''
    ? [field.required(`${path}.volumeAttributesClassName`, 'an empty string is disallowed')]
    : []),
  ...(isAbsent(name) || !isAbsent(csi)
    ? []
    : [field.required(`${path}.csi`, 'has to be specified when using volumeAttributesClassName')]),
];

const MODES = ['Block', 'Filesystem'];
const csiDriver: readonly MemberRule[] = [required(), mustBeSubdomain];
/** Upstream checks these references to secrets, and not those of the first stage. */
const secretReference: MemberRule = (value, path, owner) =>
  isObject(value)
    ? ['name', 'namespace'].flatMap((member) => required()(value[member], `${path}.${member}`, owner))
    : [];
const storageos: TypeRules = requires('volumeName');
const azureFile = requires('secretName', 'shareName');
const glusterfs = requires('endpoints', 'path');
const scaleIO = requires('gateway', 'system', 'volumeName');
const flexVolume = requires('driver');
const monitors = requires('monitors');
const rbd = requires('monitors', 'image');
const volumeId = requires('volumeID');

export const volumeRules: RuleTable = {
  'core.v1.Volume': {
    members: { name: [required(), unlessEmpty(label)] },
    together: [oneSource(POD_SOURCES)],
    shown: { gcePersistentDisk: 'persistentDisk' },
  },
  'core.v1.PersistentVolumeSpec': {
    members: {
      volumeMode: [oneOf(...MODES)],
      persistentVolumeReclaimPolicy: [oneOf('Delete', 'Recycle', 'Retain')],
    },
    together: [oneSource(PERSISTENT_SOURCES, ['flexVolume']), attributesClass],
    shown: { gcePersistentDisk: 'persistentDisk' },
  },
  'core.v1.HostPathVolumeSource': { members: { path: [required()], type: [oneOf(...HOST_TYPES)] } },
  'core.v1.GitRepoVolumeSource': requires('repository'),
  'core.v1.GCEPersistentDiskVolumeSource': requires('pdName'),
  'core.v1.AWSElasticBlockStoreVolumeSource': volumeId,
  'core.v1.SecretVolumeSource': requires('secretName'),
  'core.v1.ConfigMapVolumeSource': requires('name'),
  'core.v1.SecretProjection': requires('name'),
  'core.v1.ConfigMapProjection': requires('name'),
  'core.v1.KeyToPath': keyAndPath,
  'core.v1.NFSVolumeSource': { members: { server: [required()], path: [required(), absoluteIfAny] } },
  'core.v1.ISCSIVolumeSource': iscsi,
  'core.v1.ISCSIPersistentVolumeSource': iscsi,
  'core.v1.GlusterfsVolumeSource': glusterfs,
  'core.v1.GlusterfsPersistentVolumeSource': glusterfs,
  'core.v1.FlockerVolumeSource': { together: [dataset] },
  'core.v1.PersistentVolumeClaimVolumeSource': requires('claimName'),
  'core.v1.RBDVolumeSource': rbd,
  'core.v1.RBDPersistentVolumeSource': rbd,
  'core.v1.CinderVolumeSource': volumeId,
  'core.v1.CinderPersistentVolumeSource': volumeId,
  'core.v1.CephFSVolumeSource': monitors,
  'core.v1.CephFSPersistentVolumeSource': monitors,
  'core.v1.QuobyteVolumeSource': {
    members: {
      registry: [required('must be a host:port pair or multiple pairs separated by commas')],
      volume: [required()],
    },
  },
  'core.v1.FCVolumeSource': { together: [channel] },
  'core.v1.FlexVolumeSource': flexVolume,
  'core.v1.FlexPersistentVolumeSource': flexVolume,
  'core.v1.AzureFileVolumeSource': azureFile,
  'core.v1.AzureFilePersistentVolumeSource': azureFile,
  'core.v1.VsphereVirtualDiskVolumeSource': requires('volumePath'),
  'core.v1.PhotonPersistentDiskVolumeSource': requires('pdID'),
  'core.v1.PortworxVolumeSource': volumeId,
  'core.v1.AzureDiskVolumeSource': azureDisk,
  'core.v1.StorageOSVolumeSource': storageos,
  'core.v1.StorageOSPersistentVolumeSource': storageos,
  'core.v1.ScaleIOVolumeSource': scaleIO,
  'core.v1.ScaleIOPersistentVolumeSource': scaleIO,
  'core.v1.LocalVolumeSource': requires('path'),
  'core.v1.CSIVolumeSource': {
    members: {
      driver: csiDriver,
      nodePublishSecretRef: [
        (value, path, owner) => (isObject(value) ? required()(value['name'], `${path}.name`, owner) : []),
      ],
    },
  },
  'core.v1.CSIPersistentVolumeSource': {
    members: {
      driver: csiDriver,
      volumeHandle: [required()],
      controllerExpandSecretRef: [secretReference],
      controllerPublishSecretRef: [secretReference],
      nodeExpandSecretRef: [secretReference],
      nodePublishSecretRef: [secretReference],
    },
  },
  'core.v1.DownwardAPIVolumeFile': {
    together: [downwardErrors],
    unchecked: ['fieldRef', 'resourceFieldRef'],
  },
  'core.v1.VolumeProjection': { together: [oneProjection, tokenPath] },
  'core.v1.ServiceAccountTokenProjection': {
    members: {
      expirationSeconds: [between(600, Infinity, 'may not specify a duration less than 10 minutes')],
    },
  },
  'core.v1.EphemeralVolumeSource': { members: { volumeClaimTemplate: [required()] } },
  'core.v1.PersistentVolumeClaimTemplate': { together: [templateMetadata] },
  'core.v1.PersistentVolumeClaimSpec': {
    members: {
      accessModes: [required('at least 1 access mode is required')],
      resources: [storageRequest],
      volumeMode: [oneOf(...MODES)],
    },
    together: [claimSources],
  },
};
