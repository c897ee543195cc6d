// Kubernetes v1.36.3. Written by scripts/generate-kinds.ts: do not edit.
import type { LabelSelector, LabelSelectorRequirement } from '../model/label-selector.ts'
import type { Condition, KubeObject, ObjectMeta } from '../model/object.ts'

export interface APIService extends KubeObject {
  readonly spec?: APIServiceSpec
  readonly status?: APIServiceStatus
}

export interface APIServiceCondition {
  readonly lastTransitionTime?: string
  readonly message?: string
  readonly reason?: string
  readonly status: string
  readonly type: string
}

export interface APIServiceSpec {
  readonly caBundle?: string
  readonly group?: string
  readonly groupPriorityMinimum: number
  readonly insecureSkipTLSVerify?: boolean
  readonly service?: ApiregistrationServiceReference
  readonly version?: string
  readonly versionPriority: number
}

export interface APIServiceStatus {
  readonly conditions?: readonly APIServiceCondition[]
}

export interface AWSElasticBlockStoreVolumeSource {
  readonly fsType?: string
  readonly partition?: number
  readonly readOnly?: boolean
  readonly volumeID: string
}

export interface AdmissionregistrationServiceReference {
  readonly name: string
  readonly namespace: string
  readonly path?: string
  readonly port?: number
}

export interface AdmissionregistrationWebhookClientConfig {
  readonly caBundle?: string
  readonly service?: AdmissionregistrationServiceReference
  readonly url?: string
}

export interface Affinity {
  readonly nodeAffinity?: NodeAffinity
  readonly podAffinity?: PodAffinity
  readonly podAntiAffinity?: PodAntiAffinity
}

export interface AggregationRule {
  readonly clusterRoleSelectors?: readonly LabelSelector[]
}

export interface AllocatedDeviceStatus {
  readonly conditions?: readonly Condition[]
  readonly data?: Readonly<Record<string, unknown>>
  readonly device: string
  readonly driver: string
  readonly networkData?: NetworkDeviceData
  readonly pool: string
  readonly shareID?: string
}

export interface AllocationResult {
  readonly allocationTimestamp?: string
  readonly devices?: DeviceAllocationResult
  readonly nodeSelector?: NodeSelector
}

export interface ApiextensionsServiceReference {
  readonly name: string
  readonly namespace: string
  readonly path?: string
  readonly port?: number
}

export interface ApiextensionsWebhookClientConfig {
  readonly caBundle?: string
  readonly service?: ApiextensionsServiceReference
  readonly url?: string
}

export interface ApiregistrationServiceReference {
  readonly name?: string
  readonly namespace?: string
  readonly port?: number
}

export interface AppArmorProfile {
  readonly localhostProfile?: string
  readonly type: 'Localhost' | 'RuntimeDefault' | 'Unconfined'
}

export interface ApplyConfiguration {
  readonly expression?: string
}

export interface AttachedVolume {
  readonly devicePath: string
  readonly name: string
}

export interface AuditAnnotation {
  readonly key: string
  readonly valueExpression: string
}

export interface AzureDiskVolumeSource {
  readonly cachingMode?: 'None' | 'ReadOnly' | 'ReadWrite'
  readonly diskName: string
  readonly diskURI: string
  readonly fsType?: string
  readonly kind?: 'Dedicated' | 'Managed' | 'Shared'
  readonly readOnly?: boolean
}

export interface AzureFilePersistentVolumeSource {
  readonly readOnly?: boolean
  readonly secretName: string
  readonly secretNamespace?: string
  readonly shareName: string
}

export interface AzureFileVolumeSource {
  readonly readOnly?: boolean
  readonly secretName: string
  readonly shareName: string
}

export interface Binding extends KubeObject {
  readonly target: ObjectReference
}

export interface CELDeviceSelector {
  readonly expression: string
}

export interface CSIDriver extends KubeObject {
  readonly spec: CSIDriverSpec
}

export interface CSIDriverSpec {
  readonly attachRequired?: boolean
  readonly fsGroupPolicy?: string
  readonly nodeAllocatableUpdatePeriodSeconds?: number
  readonly podInfoOnMount?: boolean
  readonly preventPodSchedulingIfMissing?: boolean
  readonly requiresRepublish?: boolean
  readonly seLinuxMount?: boolean
  readonly serviceAccountTokenInSecrets?: boolean
  readonly storageCapacity?: boolean
  readonly tokenRequests?: readonly TokenRequest[]
  readonly volumeLifecycleModes?: readonly string[]
}

export interface CSINode extends KubeObject {
  readonly spec: CSINodeSpec
}

export interface CSINodeDriver {
  readonly allocatable?: VolumeNodeResources
  readonly name: string
  readonly nodeID: string
  readonly topologyKeys?: readonly string[]
}

export interface CSINodeSpec {
  readonly drivers: readonly CSINodeDriver[]
}

export interface CSIPersistentVolumeSource {
  readonly controllerExpandSecretRef?: SecretReference
  readonly controllerPublishSecretRef?: SecretReference
  readonly driver: string
  readonly fsType?: string
  readonly nodeExpandSecretRef?: SecretReference
  readonly nodePublishSecretRef?: SecretReference
  readonly nodeStageSecretRef?: SecretReference
  readonly readOnly?: boolean
  readonly volumeAttributes?: Readonly<Record<string, string>>
  readonly volumeHandle: string
}

export interface CSIStorageCapacity extends KubeObject {
  readonly capacity?: string
  readonly maximumVolumeSize?: string
  readonly nodeTopology?: LabelSelector
  readonly storageClassName: string
}

export interface CSIVolumeSource {
  readonly driver: string
  readonly fsType?: string
  readonly nodePublishSecretRef?: LocalObjectReference
  readonly readOnly?: boolean
  readonly volumeAttributes?: Readonly<Record<string, string>>
}

export interface Capabilities {
  readonly add?: readonly string[]
  readonly drop?: readonly string[]
}

export interface CapacityRequestPolicy {
  readonly default?: string
  readonly validRange?: CapacityRequestPolicyRange
  readonly validValues?: readonly string[]
}

export interface CapacityRequestPolicyRange {
  readonly max?: string
  readonly min: string
  readonly step?: string
}

export interface CapacityRequirements {
  readonly requests?: Readonly<Record<string, string>>
}

export interface CephFSPersistentVolumeSource {
  readonly monitors: readonly string[]
  readonly path?: string
  readonly readOnly?: boolean
  readonly secretFile?: string
  readonly secretRef?: SecretReference
  readonly user?: string
}

export interface CephFSVolumeSource {
  readonly monitors: readonly string[]
  readonly path?: string
  readonly readOnly?: boolean
  readonly secretFile?: string
  readonly secretRef?: LocalObjectReference
  readonly user?: string
}

export interface CertificateSigningRequest extends KubeObject {
  readonly spec: CertificateSigningRequestSpec
  readonly status?: CertificateSigningRequestStatus
}

export interface CertificateSigningRequestCondition {
  readonly lastTransitionTime?: string
  readonly lastUpdateTime?: string
  readonly message?: string
  readonly reason?: string
  readonly status: string
  readonly type: string
}

export interface CertificateSigningRequestSpec {
  readonly expirationSeconds?: number
  readonly extra?: Readonly<Record<string, readonly string[]>>
  readonly groups?: readonly string[]
  readonly request: string
  readonly signerName: string
  readonly uid?: string
  readonly usages?: readonly ('any' | 'cert sign' | 'client auth' | 'code signing' | 'content commitment' | 'crl sign' | 'data encipherment' | 'decipher only' | 'digital signature' | 'email protection' | 'encipher only' | 'ipsec end system' | 'ipsec tunnel' | 'ipsec user' | 'key agreement' | 'key encipherment' | 'microsoft sgc' | 'netscape sgc' | 'ocsp signing' | 's/mime' | 'server auth' | 'signing' | 'timestamping')[]
  readonly username?: string
}

export interface CertificateSigningRequestStatus {
  readonly certificate?: string
  readonly conditions?: readonly CertificateSigningRequestCondition[]
}

export interface CinderPersistentVolumeSource {
  readonly fsType?: string
  readonly readOnly?: boolean
  readonly secretRef?: SecretReference
  readonly volumeID: string
}

export interface CinderVolumeSource {
  readonly fsType?: string
  readonly readOnly?: boolean
  readonly secretRef?: LocalObjectReference
  readonly volumeID: string
}

export interface ClientIPConfig {
  readonly timeoutSeconds?: number
}

export interface ClusterRole extends KubeObject {
  readonly aggregationRule?: AggregationRule
  readonly rules?: readonly PolicyRule[]
}

export interface ClusterRoleBinding extends KubeObject {
  readonly roleRef: RoleRef
  readonly subjects?: readonly RbacSubject[]
}

export interface ClusterTrustBundleProjection {
  readonly labelSelector?: LabelSelector
  readonly name?: string
  readonly optional?: boolean
  readonly path: string
  readonly signerName?: string
}

export interface ComponentCondition {
  readonly error?: string
  readonly message?: string
  readonly status: string
  readonly type: string
}

export interface ComponentStatus extends KubeObject {
  readonly conditions?: readonly ComponentCondition[]
}

export interface ConfigMap extends KubeObject {
  readonly binaryData?: Readonly<Record<string, string>>
  readonly data?: Readonly<Record<string, string>>
  readonly immutable?: boolean
}

export interface ConfigMapEnvSource {
  readonly name?: string
  readonly optional?: boolean
}

export interface ConfigMapKeySelector {
  readonly key: string
  readonly name?: string
  readonly optional?: boolean
}

export interface ConfigMapNodeConfigSource {
  readonly kubeletConfigKey: string
  readonly name: string
  readonly namespace: string
  readonly resourceVersion?: string
  readonly uid?: string
}

export interface ConfigMapProjection {
  readonly items?: readonly KeyToPath[]
  readonly name?: string
  readonly optional?: boolean
}

export interface ConfigMapVolumeSource {
  readonly defaultMode?: number
  readonly items?: readonly KeyToPath[]
  readonly name?: string
  readonly optional?: boolean
}

export interface Container {
  readonly args?: readonly string[]
  readonly command?: readonly string[]
  readonly env?: readonly EnvVar[]
  readonly envFrom?: readonly EnvFromSource[]
  readonly image?: string
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never'
  readonly lifecycle?: Lifecycle
  readonly livenessProbe?: Probe
  readonly name: string
  readonly ports?: readonly ContainerPort[]
  readonly readinessProbe?: Probe
  readonly resizePolicy?: readonly ContainerResizePolicy[]
  readonly resources?: ResourceRequirements
  readonly restartPolicy?: string
  readonly restartPolicyRules?: readonly ContainerRestartRule[]
  readonly securityContext?: SecurityContext
  readonly startupProbe?: Probe
  readonly stdin?: boolean
  readonly stdinOnce?: boolean
  readonly terminationMessagePath?: string
  readonly terminationMessagePolicy?: 'FallbackToLogsOnError' | 'File'
  readonly tty?: boolean
  readonly volumeDevices?: readonly VolumeDevice[]
  readonly volumeMounts?: readonly VolumeMount[]
  readonly workingDir?: string
}

export interface ContainerExtendedResourceRequest {
  readonly containerName: string
  readonly requestName: string
  readonly resourceName: string
}

export interface ContainerImage {
  readonly names?: readonly string[]
  readonly sizeBytes?: number
}

export interface ContainerPort {
  readonly containerPort: number
  readonly hostIP?: string
  readonly hostPort?: number
  readonly name?: string
  readonly protocol?: 'SCTP' | 'TCP' | 'UDP'
}

export interface ContainerResizePolicy {
  readonly resourceName: string
  readonly restartPolicy: string
}

export interface ContainerResourceMetricSource {
  readonly container: string
  readonly name: string
  readonly target: MetricTarget
}

export interface ContainerResourceMetricStatus {
  readonly container: string
  readonly current: MetricValueStatus
  readonly name: string
}

export interface ContainerRestartRule {
  readonly action: string
  readonly exitCodes?: ContainerRestartRuleOnExitCodes
}

export interface ContainerRestartRuleOnExitCodes {
  readonly operator: string
  readonly values?: readonly number[]
}

export interface ContainerState {
  readonly running?: ContainerStateRunning
  readonly terminated?: ContainerStateTerminated
  readonly waiting?: ContainerStateWaiting
}

export interface ContainerStateRunning {
  readonly startedAt?: string
}

export interface ContainerStateTerminated {
  readonly containerID?: string
  readonly exitCode: number
  readonly finishedAt?: string
  readonly message?: string
  readonly reason?: string
  readonly signal?: number
  readonly startedAt?: string
}

export interface ContainerStateWaiting {
  readonly message?: string
  readonly reason?: string
}

export interface ContainerStatus {
  readonly allocatedResources?: Readonly<Record<string, string>>
  readonly allocatedResourcesStatus?: readonly ResourceStatus[]
  readonly containerID?: string
  readonly image: string
  readonly imageID: string
  readonly lastState?: ContainerState
  readonly name: string
  readonly ready: boolean
  readonly resources?: ResourceRequirements
  readonly restartCount: number
  readonly started?: boolean
  readonly state?: ContainerState
  readonly stopSignal?: 'SIGABRT' | 'SIGALRM' | 'SIGBUS' | 'SIGCHLD' | 'SIGCLD' | 'SIGCONT' | 'SIGFPE' | 'SIGHUP' | 'SIGILL' | 'SIGINT' | 'SIGIO' | 'SIGIOT' | 'SIGKILL' | 'SIGPIPE' | 'SIGPOLL' | 'SIGPROF' | 'SIGPWR' | 'SIGQUIT' | 'SIGRTMAX' | 'SIGRTMAX-1' | 'SIGRTMAX-10' | 'SIGRTMAX-11' | 'SIGRTMAX-12' | 'SIGRTMAX-13' | 'SIGRTMAX-14' | 'SIGRTMAX-2' | 'SIGRTMAX-3' | 'SIGRTMAX-4' | 'SIGRTMAX-5' | 'SIGRTMAX-6' | 'SIGRTMAX-7' | 'SIGRTMAX-8' | 'SIGRTMAX-9' | 'SIGRTMIN' | 'SIGRTMIN+1' | 'SIGRTMIN+10' | 'SIGRTMIN+11' | 'SIGRTMIN+12' | 'SIGRTMIN+13' | 'SIGRTMIN+14' | 'SIGRTMIN+15' | 'SIGRTMIN+2' | 'SIGRTMIN+3' | 'SIGRTMIN+4' | 'SIGRTMIN+5' | 'SIGRTMIN+6' | 'SIGRTMIN+7' | 'SIGRTMIN+8' | 'SIGRTMIN+9' | 'SIGSEGV' | 'SIGSTKFLT' | 'SIGSTOP' | 'SIGSYS' | 'SIGTERM' | 'SIGTRAP' | 'SIGTSTP' | 'SIGTTIN' | 'SIGTTOU' | 'SIGURG' | 'SIGUSR1' | 'SIGUSR2' | 'SIGVTALRM' | 'SIGWINCH' | 'SIGXCPU' | 'SIGXFSZ'
  readonly user?: ContainerUser
  readonly volumeMounts?: readonly VolumeMountStatus[]
}

export interface ContainerUser {
  readonly linux?: LinuxContainerUser
}

export interface ControllerRevision extends KubeObject {
  readonly data?: Readonly<Record<string, unknown>>
  readonly revision: number
}

export interface CoreEvent extends KubeObject {
  readonly action?: string
  readonly count?: number
  readonly eventTime?: string
  readonly firstTimestamp?: string
  readonly involvedObject: ObjectReference
  readonly lastTimestamp?: string
  readonly message?: string
  readonly reason?: string
  readonly related?: ObjectReference
  readonly reportingComponent?: string
  readonly reportingInstance?: string
  readonly series?: EventSeries
  readonly source?: EventSource
  readonly type?: string
}

export interface CoreResourceClaim {
  readonly name: string
  readonly request?: string
}

export interface Counter {
  readonly value: string
}

export interface CounterSet {
  readonly counters: Readonly<Record<string, Counter>>
  readonly name: string
}

export interface CronJob extends KubeObject {
  readonly spec: CronJobSpec
  readonly status?: CronJobStatus
}

export interface CronJobSpec {
  readonly concurrencyPolicy?: 'Allow' | 'Forbid' | 'Replace'
  readonly failedJobsHistoryLimit?: number
  readonly jobTemplate: JobTemplateSpec
  readonly schedule: string
  readonly startingDeadlineSeconds?: number
  readonly successfulJobsHistoryLimit?: number
  readonly suspend?: boolean
  readonly timeZone?: string
}

export interface CronJobStatus {
  readonly active?: readonly ObjectReference[]
  readonly lastScheduleTime?: string
  readonly lastSuccessfulTime?: string
}

export interface CrossVersionObjectReference {
  readonly apiVersion?: string
  readonly kind: string
  readonly name: string
}

export interface CustomResourceColumnDefinition {
  readonly description?: string
  readonly format?: string
  readonly jsonPath: string
  readonly name: string
  readonly priority?: number
  readonly type: string
}

export interface CustomResourceConversion {
  readonly strategy: string
  readonly webhook?: WebhookConversion
}

export interface CustomResourceDefinition extends KubeObject {
  readonly spec: CustomResourceDefinitionSpec
  readonly status?: CustomResourceDefinitionStatus
}

export interface CustomResourceDefinitionCondition {
  readonly lastTransitionTime?: string
  readonly message?: string
  readonly observedGeneration?: number
  readonly reason?: string
  readonly status: string
  readonly type: string
}

export interface CustomResourceDefinitionNames {
  readonly categories?: readonly string[]
  readonly kind: string
  readonly listKind?: string
  readonly plural: string
  readonly shortNames?: readonly string[]
  readonly singular?: string
}

export interface CustomResourceDefinitionSpec {
  readonly conversion?: CustomResourceConversion
  readonly group: string
  readonly names: CustomResourceDefinitionNames
  readonly preserveUnknownFields?: boolean
  readonly scope: string
  readonly versions: readonly CustomResourceDefinitionVersion[]
}

export interface CustomResourceDefinitionStatus {
  readonly acceptedNames?: CustomResourceDefinitionNames
  readonly conditions?: readonly CustomResourceDefinitionCondition[]
  readonly observedGeneration?: number
  readonly storedVersions?: readonly string[]
}

export interface CustomResourceDefinitionVersion {
  readonly additionalPrinterColumns?: readonly CustomResourceColumnDefinition[]
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
  readonly name: string
  readonly schema?: CustomResourceValidation
  readonly selectableFields?: readonly SelectableField[]
  readonly served: boolean
  readonly storage: boolean
  readonly subresources?: CustomResourceSubresources
}

export interface CustomResourceSubresourceScale {
  readonly labelSelectorPath?: string
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
}

export interface CustomResourceSubresourceStatus {}

export interface CustomResourceSubresources {
  readonly scale?: CustomResourceSubresourceScale
  readonly status?: CustomResourceSubresourceStatus
}

export interface CustomResourceValidation {
  readonly openAPIV3Schema?: JSONSchemaProps
}

export interface DaemonEndpoint {
  readonly Port: number
}

export interface DaemonSet extends KubeObject {
  readonly spec?: DaemonSetSpec
  readonly status?: DaemonSetStatus
}

export interface DaemonSetCondition {
  readonly lastTransitionTime?: string
  readonly message?: string
  readonly reason?: string
  readonly status: string
  readonly type: string
}

export interface DaemonSetSpec {
  readonly minReadySeconds?: number
  readonly revisionHistoryLimit?: number
  readonly selector: LabelSelector
  readonly template: PodTemplateSpec
  readonly updateStrategy?: DaemonSetUpdateStrategy
}

export interface DaemonSetStatus {
  readonly collisionCount?: number
  readonly conditions?: readonly DaemonSetCondition[]
  readonly currentNumberScheduled: number
  readonly desiredNumberScheduled: number
  readonly numberAvailable?: number
  readonly numberMisscheduled: number
  readonly numberReady: number
  readonly numberUnavailable?: number
  readonly observedGeneration?: number
  readonly updatedNumberScheduled?: number
}

export interface DaemonSetUpdateStrategy {
  readonly rollingUpdate?: RollingUpdateDaemonSet
  readonly type?: 'OnDelete' | 'RollingUpdate'
}

export interface Deployment extends KubeObject {
  readonly spec?: DeploymentSpec
  readonly status?: DeploymentStatus
}

export interface DeploymentCondition {
  readonly lastTransitionTime?: string
  readonly lastUpdateTime?: string
  readonly message?: string
  readonly reason?: string
  readonly status: string
  readonly type: string
}

export interface DeploymentSpec {
  readonly minReadySeconds?: number
  readonly paused?: boolean
  readonly progressDeadlineSeconds?: number
  readonly replicas?: number
  readonly revisionHistoryLimit?: number
  readonly selector: LabelSelector
  readonly strategy?: DeploymentStrategy
  readonly template: PodTemplateSpec
}

export interface DeploymentStatus {
  readonly availableReplicas?: number
  readonly collisionCount?: number
  readonly conditions?: readonly DeploymentCondition[]
  readonly observedGeneration?: number
  readonly readyReplicas?: number
  readonly replicas?: number
  readonly terminatingReplicas?: number
  readonly unavailableReplicas?: number
  readonly updatedReplicas?: number
}

export interface DeploymentStrategy {
  readonly rollingUpdate?: RollingUpdateDeployment
  readonly type?: 'Recreate' | 'RollingUpdate'
}

export interface Device {
  readonly allNodes?: boolean
  readonly allowMultipleAllocations?: boolean
  readonly attributes?: Readonly<Record<string, DeviceAttribute>>
  readonly bindingConditions?: readonly string[]
  readonly bindingFailureConditions?: readonly string[]
  readonly bindsToNode?: boolean
  readonly capacity?: Readonly<Record<string, DeviceCapacity>>
  readonly consumesCounters?: readonly DeviceCounterConsumption[]
  readonly name: string
  readonly nodeAllocatableResourceMappings?: Readonly<Record<string, NodeAllocatableResourceMapping>>
  readonly nodeName?: string
  readonly nodeSelector?: NodeSelector
  readonly taints?: readonly DeviceTaint[]
}

export interface DeviceAllocationConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration
  readonly requests?: readonly string[]
  readonly source: 'FromClaim' | 'FromClass'
}

export interface DeviceAllocationResult {
  readonly config?: readonly DeviceAllocationConfiguration[]
  readonly results?: readonly DeviceRequestAllocationResult[]
}

export interface DeviceAttribute {
  readonly bool?: boolean
  readonly bools?: readonly boolean[]
  readonly int?: number
  readonly ints?: readonly number[]
  readonly string?: string
  readonly strings?: readonly string[]
  readonly version?: string
  readonly versions?: readonly string[]
}

export interface DeviceCapacity {
  readonly requestPolicy?: CapacityRequestPolicy
  readonly value: string
}

export interface DeviceClaim {
  readonly config?: readonly DeviceClaimConfiguration[]
  readonly constraints?: readonly DeviceConstraint[]
  readonly requests?: readonly DeviceRequest[]
}

export interface DeviceClaimConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration
  readonly requests?: readonly string[]
}

export interface DeviceClass extends KubeObject {
  readonly spec: DeviceClassSpec
}

export interface DeviceClassConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration
}

export interface DeviceClassSpec {
  readonly config?: readonly DeviceClassConfiguration[]
  readonly extendedResourceName?: string
  readonly selectors?: readonly DeviceSelector[]
}

export interface DeviceConstraint {
  readonly distinctAttribute?: string
  readonly matchAttribute?: string
  readonly requests?: readonly string[]
}

export interface DeviceCounterConsumption {
  readonly counterSet: string
  readonly counters: Readonly<Record<string, Counter>>
}

export interface DeviceRequest {
  readonly exactly?: ExactDeviceRequest
  readonly firstAvailable?: readonly DeviceSubRequest[]
  readonly name: string
}

export interface DeviceRequestAllocationResult {
  readonly adminAccess?: boolean
  readonly bindingConditions?: readonly string[]
  readonly bindingFailureConditions?: readonly string[]
  readonly consumedCapacity?: Readonly<Record<string, string>>
  readonly device: string
  readonly driver: string
  readonly pool: string
  readonly request: string
  readonly shareID?: string
  readonly tolerations?: readonly DeviceToleration[]
}

export interface DeviceSelector {
  readonly cel?: CELDeviceSelector
}

export interface DeviceSubRequest {
  readonly allocationMode?: 'All' | 'ExactCount'
  readonly capacity?: CapacityRequirements
  readonly count?: number
  readonly deviceClassName: string
  readonly name: string
  readonly selectors?: readonly DeviceSelector[]
  readonly tolerations?: readonly DeviceToleration[]
}

export interface DeviceTaint {
  readonly effect: 'NoExecute' | 'NoSchedule' | 'None'
  readonly key: string
  readonly timeAdded?: string
  readonly value?: string
}

export interface DeviceToleration {
  readonly effect?: 'NoExecute' | 'NoSchedule' | 'None'
  readonly key?: string
  readonly operator?: 'Equal' | 'Exists'
  readonly tolerationSeconds?: number
  readonly value?: string
}

export interface DiscoveryEndpointPort {
  readonly appProtocol?: string
  readonly name?: string
  readonly port?: number
  readonly protocol?: 'SCTP' | 'TCP' | 'UDP'
}

export interface DownwardAPIProjection {
  readonly items?: readonly DownwardAPIVolumeFile[]
}

export interface DownwardAPIVolumeFile {
  readonly fieldRef?: ObjectFieldSelector
  readonly mode?: number
  readonly path: string
  readonly resourceFieldRef?: ResourceFieldSelector
}

export interface DownwardAPIVolumeSource {
  readonly defaultMode?: number
  readonly items?: readonly DownwardAPIVolumeFile[]
}

export interface EmptyDirVolumeSource {
  readonly medium?: string
  readonly sizeLimit?: string
}

export interface Endpoint {
  readonly addresses: readonly string[]
  readonly conditions?: EndpointConditions
  readonly deprecatedTopology?: Readonly<Record<string, string>>
  readonly hints?: EndpointHints
  readonly hostname?: string
  readonly nodeName?: string
  readonly targetRef?: ObjectReference
  readonly zone?: string
}

export interface EndpointAddress {
  readonly hostname?: string
  readonly ip: string
  readonly nodeName?: string
  readonly targetRef?: ObjectReference
}

export interface EndpointConditions {
  readonly ready?: boolean
  readonly serving?: boolean
  readonly terminating?: boolean
}

export interface EndpointHints {
  readonly forNodes?: readonly ForNode[]
  readonly forZones?: readonly ForZone[]
}

export interface EndpointPort {
  readonly appProtocol?: string
  readonly name?: string
  readonly port: number
  readonly protocol?: 'SCTP' | 'TCP' | 'UDP'
}

export interface EndpointSlice extends KubeObject {
  readonly addressType: 'FQDN' | 'IPv4' | 'IPv6'
  readonly endpoints?: readonly Endpoint[]
  readonly ports?: readonly DiscoveryEndpointPort[]
}

export interface EndpointSubset {
  readonly addresses?: readonly EndpointAddress[]
  readonly notReadyAddresses?: readonly EndpointAddress[]
  readonly ports?: readonly EndpointPort[]
}

export interface Endpoints extends KubeObject {
  readonly subsets?: readonly EndpointSubset[]
}

export interface EnvFromSource {
  readonly configMapRef?: ConfigMapEnvSource
  readonly prefix?: string
  readonly secretRef?: SecretEnvSource
}

export interface EnvVar {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: EnvVarSource
}

export interface EnvVarSource {
  readonly configMapKeyRef?: ConfigMapKeySelector
  readonly fieldRef?: ObjectFieldSelector
  readonly fileKeyRef?: FileKeySelector
  readonly resourceFieldRef?: ResourceFieldSelector
  readonly secretKeyRef?: SecretKeySelector
}

export interface EphemeralContainer {
  readonly args?: readonly string[]
  readonly command?: readonly string[]
  readonly env?: readonly EnvVar[]
  readonly envFrom?: readonly EnvFromSource[]
  readonly image?: string
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never'
  readonly lifecycle?: Lifecycle
  readonly livenessProbe?: Probe
  readonly name: string
  readonly ports?: readonly ContainerPort[]
  readonly readinessProbe?: Probe
  readonly resizePolicy?: readonly ContainerResizePolicy[]
  readonly resources?: ResourceRequirements
  readonly restartPolicy?: string
  readonly restartPolicyRules?: readonly ContainerRestartRule[]
  readonly securityContext?: SecurityContext
  readonly startupProbe?: Probe
  readonly stdin?: boolean
  readonly stdinOnce?: boolean
  readonly targetContainerName?: string
  readonly terminationMessagePath?: string
  readonly terminationMessagePolicy?: 'FallbackToLogsOnError' | 'File'
  readonly tty?: boolean
  readonly volumeDevices?: readonly VolumeDevice[]
  readonly volumeMounts?: readonly VolumeMount[]
  readonly workingDir?: string
}

export interface EphemeralVolumeSource {
  readonly volumeClaimTemplate?: PersistentVolumeClaimTemplate
}

export interface Event extends KubeObject {
  readonly action?: string
  readonly deprecatedCount?: number
  readonly deprecatedFirstTimestamp?: string
  readonly deprecatedLastTimestamp?: string
  readonly deprecatedSource?: EventSource
  readonly eventTime: string
  readonly note?: string
  readonly reason?: string
  readonly regarding?: ObjectReference
  readonly related?: ObjectReference
  readonly reportingController?: string
  readonly reportingInstance?: string
  readonly series?: EventsEventSeries
  readonly type?: string
}

export interface EventSeries {
  readonly count?: number
  readonly lastObservedTime?: string
}

export interface EventSource {
  readonly component?: string
  readonly host?: string
}

export interface EventsEventSeries {
  readonly count: number
  readonly lastObservedTime: string
}

export interface ExactDeviceRequest {
  readonly adminAccess?: boolean
  readonly allocationMode?: 'All' | 'ExactCount'
  readonly capacity?: CapacityRequirements
  readonly count?: number
  readonly deviceClassName: string
  readonly selectors?: readonly DeviceSelector[]
  readonly tolerations?: readonly DeviceToleration[]
}

export interface ExecAction {
  readonly command?: readonly string[]
}

export interface ExemptPriorityLevelConfiguration {
  readonly lendablePercent?: number
  readonly nominalConcurrencyShares?: number
}

export interface ExpressionWarning {
  readonly fieldRef: string
  readonly warning: string
}

export interface ExternalDocumentation {
  readonly description?: string
  readonly url?: string
}

export interface ExternalMetricSource {
  readonly metric: MetricIdentifier
  readonly target: MetricTarget
}

export interface ExternalMetricStatus {
  readonly current: MetricValueStatus
  readonly metric: MetricIdentifier
}

export interface FCVolumeSource {
  readonly fsType?: string
  readonly lun?: number
  readonly readOnly?: boolean
  readonly targetWWNs?: readonly string[]
  readonly wwids?: readonly string[]
}

export interface FieldSelectorAttributes {
  readonly rawSelector?: string
  readonly requirements?: readonly FieldSelectorRequirement[]
}

export interface FieldSelectorRequirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

export interface FileKeySelector {
  readonly key: string
  readonly optional?: boolean
  readonly path: string
  readonly volumeName: string
}

export interface FlexPersistentVolumeSource {
  readonly driver: string
  readonly fsType?: string
  readonly options?: Readonly<Record<string, string>>
  readonly readOnly?: boolean
  readonly secretRef?: SecretReference
}

export interface FlexVolumeSource {
  readonly driver: string
  readonly fsType?: string
  readonly options?: Readonly<Record<string, string>>
  readonly readOnly?: boolean
  readonly secretRef?: LocalObjectReference
}

export interface FlockerVolumeSource {
  readonly datasetName?: string
  readonly datasetUUID?: string
}

export interface FlowDistinguisherMethod {
  readonly type: string
}

export interface FlowSchema extends KubeObject {
  readonly spec?: FlowSchemaSpec
  readonly status?: FlowSchemaStatus
}

export interface FlowSchemaCondition {
  readonly lastTransitionTime?: string
  readonly message?: string
  readonly reason?: string
  readonly status?: string
  readonly type?: string
}

export interface FlowSchemaSpec {
  readonly distinguisherMethod?: FlowDistinguisherMethod
  readonly matchingPrecedence?: number
  readonly priorityLevelConfiguration: PriorityLevelConfigurationReference
  readonly rules?: readonly PolicyRulesWithSubjects[]
}

export interface FlowSchemaStatus {
  readonly conditions?: readonly FlowSchemaCondition[]
}

export interface FlowcontrolSubject {
  readonly group?: GroupSubject
  readonly kind: string
  readonly serviceAccount?: ServiceAccountSubject
  readonly user?: UserSubject
}

export interface ForNode {
  readonly name: string
}

export interface ForZone {
  readonly name: string
}

export interface GCEPersistentDiskVolumeSource {
  readonly fsType?: string
  readonly partition?: number
  readonly pdName: string
  readonly readOnly?: boolean
}

export interface GRPCAction {
  readonly port: number
  readonly service?: string
}

export interface GitRepoVolumeSource {
  readonly directory?: string
  readonly repository: string
  readonly revision?: string
}

export interface GlusterfsPersistentVolumeSource {
  readonly endpoints: string
  readonly endpointsNamespace?: string
  readonly path: string
  readonly readOnly?: boolean
}

export interface GlusterfsVolumeSource {
  readonly endpoints: string
  readonly path: string
  readonly readOnly?: boolean
}

export interface GroupSubject {
  readonly name: string
}

export interface HPAScalingPolicy {
  readonly periodSeconds: number
  readonly type: string
  readonly value: number
}

export interface HPAScalingRules {
  readonly policies?: readonly HPAScalingPolicy[]
  readonly selectPolicy?: string
  readonly stabilizationWindowSeconds?: number
  readonly tolerance?: string
}

export interface HTTPGetAction {
  readonly host?: string
  readonly httpHeaders?: readonly HTTPHeader[]
  readonly path?: string
  readonly port: number | string
  readonly scheme?: 'HTTP' | 'HTTPS'
}

export interface HTTPHeader {
  readonly name: string
  readonly value: string
}

export interface HTTPIngressPath {
  readonly backend: IngressBackend
  readonly path?: string
  readonly pathType: 'Exact' | 'ImplementationSpecific' | 'Prefix'
}

export interface HTTPIngressRuleValue {
  readonly paths: readonly HTTPIngressPath[]
}

export interface HorizontalPodAutoscaler extends KubeObject {
  readonly spec: HorizontalPodAutoscalerSpec
  readonly status?: HorizontalPodAutoscalerStatus
}

export interface HorizontalPodAutoscalerBehavior {
  readonly scaleDown?: HPAScalingRules
  readonly scaleUp?: HPAScalingRules
}

export interface HorizontalPodAutoscalerCondition {
  readonly lastTransitionTime?: string
  readonly message?: string
  readonly reason?: string
  readonly status: string
  readonly type: string
}

export interface HorizontalPodAutoscalerSpec {
  readonly behavior?: HorizontalPodAutoscalerBehavior
  readonly maxReplicas: number
  readonly metrics?: readonly MetricSpec[]
  readonly minReplicas?: number
  readonly scaleTargetRef: CrossVersionObjectReference
}

export interface HorizontalPodAutoscalerStatus {
  readonly conditions?: readonly HorizontalPodAutoscalerCondition[]
  readonly currentMetrics?: readonly MetricStatus[]
  readonly currentReplicas?: number
  readonly desiredReplicas: number
  readonly lastScaleTime?: string
  readonly observedGeneration?: number
}

export interface HostAlias {
  readonly hostnames?: readonly string[]
  readonly ip: string
}

export interface HostIP {
  readonly ip: string
}

export interface HostPathVolumeSource {
  readonly path: string
  readonly type?: '' | 'BlockDevice' | 'CharDevice' | 'Directory' | 'DirectoryOrCreate' | 'File' | 'FileOrCreate' | 'Socket'
}

export interface IPAddress extends KubeObject {
  readonly spec: IPAddressSpec
}

export interface IPAddressSpec {
  readonly parentRef: ParentReference
}

export interface IPBlock {
  readonly cidr: string
  readonly except?: readonly string[]
}

export interface ISCSIPersistentVolumeSource {
  readonly chapAuthDiscovery?: boolean
  readonly chapAuthSession?: boolean
  readonly fsType?: string
  readonly initiatorName?: string
  readonly iqn: string
  readonly iscsiInterface?: string
  readonly lun: number
  readonly portals?: readonly string[]
  readonly readOnly?: boolean
  readonly secretRef?: SecretReference
  readonly targetPortal: string
}

export interface ISCSIVolumeSource {
  readonly chapAuthDiscovery?: boolean
  readonly chapAuthSession?: boolean
  readonly fsType?: string
  readonly initiatorName?: string
  readonly iqn: string
  readonly iscsiInterface?: string
  readonly lun: number
  readonly portals?: readonly string[]
  readonly readOnly?: boolean
  readonly secretRef?: LocalObjectReference
  readonly targetPortal: string
}

export interface ImageVolumeSource {
  readonly pullPolicy?: 'Always' | 'IfNotPresent' | 'Never'
  readonly reference?: string
}

export interface ImageVolumeStatus {
  readonly imageRef: string
}

export interface Ingress extends KubeObject {
  readonly spec?: IngressSpec
  readonly status?: IngressStatus
}

export interface IngressBackend {
  readonly resource?: TypedLocalObjectReference
  readonly service?: IngressServiceBackend
}

export interface IngressClass extends KubeObject {
  readonly spec?: IngressClassSpec
}

export interface IngressClassParametersReference {
  readonly apiGroup?: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly scope?: string
}

export interface IngressClassSpec {
  readonly controller?: string
  readonly parameters?: IngressClassParametersReference
}

export interface IngressLoadBalancerIngress {
  readonly hostname?: string
  readonly ip?: string
  readonly ports?: readonly IngressPortStatus[]
}

export interface IngressLoadBalancerStatus {
  readonly ingress?: readonly IngressLoadBalancerIngress[]
}

export interface IngressPortStatus {
  readonly error?: string
  readonly port: number
  readonly protocol: 'SCTP' | 'TCP' | 'UDP'
}

export interface IngressRule {
  readonly host?: string
  readonly http?: HTTPIngressRuleValue
}

export interface IngressServiceBackend {
  readonly name: string
  readonly port?: ServiceBackendPort
}

export interface IngressSpec {
  readonly defaultBackend?: IngressBackend
  readonly ingressClassName?: string
  readonly rules?: readonly IngressRule[]
  readonly tls?: readonly IngressTLS[]
}

export interface IngressStatus {
  readonly loadBalancer?: IngressLoadBalancerStatus
}

export interface IngressTLS {
  readonly hosts?: readonly string[]
  readonly secretName?: string
}

export interface JSONPatch {
  readonly expression?: string
}

export interface JSONSchemaProps {
  readonly '$ref'?: string
  readonly '$schema'?: string
  readonly additionalItems?: JSONSchemaProps | boolean
  readonly additionalProperties?: JSONSchemaProps | boolean
  readonly allOf?: readonly JSONSchemaProps[]
  readonly anyOf?: readonly JSONSchemaProps[]
  readonly default?: unknown
  readonly definitions?: Readonly<Record<string, JSONSchemaProps>>
  readonly dependencies?: Readonly<Record<string, JSONSchemaProps | readonly string[]>>
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly example?: unknown
  readonly exclusiveMaximum?: boolean
  readonly exclusiveMinimum?: boolean
  readonly externalDocs?: ExternalDocumentation
  readonly format?: string
  readonly id?: string
  readonly items?: JSONSchemaProps | readonly JSONSchemaProps[]
  readonly maxItems?: number
  readonly maxLength?: number
  readonly maxProperties?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly minLength?: number
  readonly minProperties?: number
  readonly minimum?: number
  readonly multipleOf?: number
  readonly not?: JSONSchemaProps
  readonly nullable?: boolean
  readonly oneOf?: readonly JSONSchemaProps[]
  readonly pattern?: string
  readonly patternProperties?: Readonly<Record<string, JSONSchemaProps>>
  readonly properties?: Readonly<Record<string, JSONSchemaProps>>
  readonly required?: readonly string[]
  readonly title?: string
  readonly type?: string
  readonly uniqueItems?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-map-type'?: string
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[]
}

export interface Job extends KubeObject {
  readonly spec?: JobSpec
  readonly status?: JobStatus
}

export interface JobCondition {
  readonly lastProbeTime?: string
  readonly lastTransitionTime?: string
  readonly message?: string
  readonly reason?: string
  readonly status: string
  readonly type: string
}

export interface JobSpec {
  readonly activeDeadlineSeconds?: number
  readonly backoffLimit?: number
  readonly backoffLimitPerIndex?: number
  readonly completionMode?: 'Indexed' | 'NonIndexed'
  readonly completions?: number
  readonly managedBy?: string
  readonly manualSelector?: boolean
  readonly maxFailedIndexes?: number
  readonly parallelism?: number
  readonly podFailurePolicy?: PodFailurePolicy
  readonly podReplacementPolicy?: 'Failed' | 'TerminatingOrFailed'
  readonly selector?: LabelSelector
  readonly successPolicy?: SuccessPolicy
  readonly suspend?: boolean
  readonly template: PodTemplateSpec
  readonly ttlSecondsAfterFinished?: number
}

export interface JobStatus {
  readonly active?: number
  readonly completedIndexes?: string
  readonly completionTime?: string
  readonly conditions?: readonly JobCondition[]
  readonly failed?: number
  readonly failedIndexes?: string
  readonly ready?: number
  readonly startTime?: string
  readonly succeeded?: number
  readonly terminating?: number
  readonly uncountedTerminatedPods?: UncountedTerminatedPods
}

export interface JobTemplateSpec {
  readonly metadata?: ObjectMeta
  readonly spec?: JobSpec
}

export interface KeyToPath {
  readonly key: string
  readonly mode?: number
  readonly path: string
}

export interface LabelSelectorAttributes {
  readonly rawSelector?: string
  readonly requirements?: readonly LabelSelectorRequirement[]
}

export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec
}

export interface LeaseSpec {
  readonly acquireTime?: string
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly leaseTransitions?: number
  readonly preferredHolder?: string
  readonly renewTime?: string
  readonly strategy?: string
}

export interface Lifecycle {
  readonly postStart?: LifecycleHandler
  readonly preStop?: LifecycleHandler
  readonly stopSignal?: 'SIGABRT' | 'SIGALRM' | 'SIGBUS' | 'SIGCHLD' | 'SIGCLD' | 'SIGCONT' | 'SIGFPE' | 'SIGHUP' | 'SIGILL' | 'SIGINT' | 'SIGIO' | 'SIGIOT' | 'SIGKILL' | 'SIGPIPE' | 'SIGPOLL' | 'SIGPROF' | 'SIGPWR' | 'SIGQUIT' | 'SIGRTMAX' | 'SIGRTMAX-1' | 'SIGRTMAX-10' | 'SIGRTMAX-11' | 'SIGRTMAX-12' | 'SIGRTMAX-13' | 'SIGRTMAX-14' | 'SIGRTMAX-2' | 'SIGRTMAX-3' | 'SIGRTMAX-4' | 'SIGRTMAX-5' | 'SIGRTMAX-6' | 'SIGRTMAX-7' | 'SIGRTMAX-8' | 'SIGRTMAX-9' | 'SIGRTMIN' | 'SIGRTMIN+1' | 'SIGRTMIN+10' | 'SIGRTMIN+11' | 'SIGRTMIN+12' | 'SIGRTMIN+13' | 'SIGRTMIN+14' | 'SIGRTMIN+15' | 'SIGRTMIN+2' | 'SIGRTMIN+3' | 'SIGRTMIN+4' | 'SIGRTMIN+5' | 'SIGRTMIN+6' | 'SIGRTMIN+7' | 'SIGRTMIN+8' | 'SIGRTMIN+9' | 'SIGSEGV' | 'SIGSTKFLT' | 'SIGSTOP' | 'SIGSYS' | 'SIGTERM' | 'SIGTRAP' | 'SIGTSTP' | 'SIGTTIN' | 'SIGTTOU' | 'SIGURG' | 'SIGUSR1' | 'SIGUSR2' | 'SIGVTALRM' | 'SIGWINCH' | 'SIGXCPU' | 'SIGXFSZ'
}

export interface LifecycleHandler {
  readonly exec?: ExecAction
  readonly httpGet?: HTTPGetAction
  readonly sleep?: SleepAction
  readonly tcpSocket?: TCPSocketAction
}

export interface LimitRange extends KubeObject {
  readonly spec?: LimitRangeSpec
}

export interface LimitRangeItem {
  readonly default?: Readonly<Record<string, string>>
  readonly defaultRequest?: Readonly<Record<string, string>>
  readonly max?: Readonly<Record<string, string>>
  readonly maxLimitRequestRatio?: Readonly<Record<string, string>>
  readonly min?: Readonly<Record<string, string>>
  readonly type: string
}

export interface LimitRangeSpec {
  readonly limits: readonly LimitRangeItem[]
}

export interface LimitResponse {
  readonly queuing?: QueuingConfiguration
  readonly type: string
}

export interface LimitedPriorityLevelConfiguration {
  readonly borrowingLimitPercent?: number
  readonly lendablePercent?: number
  readonly limitResponse?: LimitResponse
  readonly nominalConcurrencyShares?: number
}

export interface LinuxContainerUser {
  readonly gid: number
  readonly supplementalGroups?: readonly number[]
  readonly uid: number
}

export interface LoadBalancerIngress {
  readonly hostname?: string
  readonly ip?: string
  readonly ipMode?: string
  readonly ports?: readonly PortStatus[]
}

export interface LoadBalancerStatus {
  readonly ingress?: readonly LoadBalancerIngress[]
}

export interface LocalObjectReference {
  readonly name?: string
}

export interface LocalSubjectAccessReview extends KubeObject {
  readonly spec: SubjectAccessReviewSpec
  readonly status?: SubjectAccessReviewStatus
}

export interface LocalVolumeSource {
  readonly fsType?: string
  readonly path: string
}

export interface MatchCondition {
  readonly expression: string
  readonly name: string
}

export interface MatchResources {
  readonly excludeResourceRules?: readonly NamedRuleWithOperations[]
  readonly matchPolicy?: 'Equivalent' | 'Exact'
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
  readonly resourceRules?: readonly NamedRuleWithOperations[]
}

export interface MetricIdentifier {
  readonly name: string
  readonly selector?: LabelSelector
}

export interface MetricSpec {
  readonly containerResource?: ContainerResourceMetricSource
  readonly external?: ExternalMetricSource
  readonly object?: ObjectMetricSource
  readonly pods?: PodsMetricSource
  readonly resource?: ResourceMetricSource
  readonly type: string
}

export interface MetricStatus {
  readonly containerResource?: ContainerResourceMetricStatus
  readonly external?: ExternalMetricStatus
  readonly object?: ObjectMetricStatus
  readonly pods?: PodsMetricStatus
  readonly resource?: ResourceMetricStatus
  readonly type: string
}

export interface MetricTarget {
  readonly averageUtilization?: number
  readonly averageValue?: string
  readonly type: string
  readonly value?: string
}

export interface MetricValueStatus {
  readonly averageUtilization?: number
  readonly averageValue?: string
  readonly value?: string
}

export interface ModifyVolumeStatus {
  readonly status: 'InProgress' | 'Infeasible' | 'Pending'
  readonly targetVolumeAttributesClassName?: string
}

export interface MutatingAdmissionPolicy extends KubeObject {
  readonly spec?: MutatingAdmissionPolicySpec
}

export interface MutatingAdmissionPolicyBinding extends KubeObject {
  readonly spec?: MutatingAdmissionPolicyBindingSpec
}

export interface MutatingAdmissionPolicyBindingSpec {
  readonly matchResources?: MatchResources
  readonly paramRef?: ParamRef
  readonly policyName?: string
}

export interface MutatingAdmissionPolicySpec {
  readonly failurePolicy?: 'Fail' | 'Ignore'
  readonly matchConditions?: readonly MatchCondition[]
  readonly matchConstraints?: MatchResources
  readonly mutations?: readonly Mutation[]
  readonly paramKind?: ParamKind
  readonly reinvocationPolicy?: 'IfNeeded' | 'Never'
  readonly variables?: readonly Variable[]
}

export interface MutatingWebhook {
  readonly admissionReviewVersions: readonly string[]
  readonly clientConfig: AdmissionregistrationWebhookClientConfig
  readonly failurePolicy?: 'Fail' | 'Ignore'
  readonly matchConditions?: readonly MatchCondition[]
  readonly matchPolicy?: 'Equivalent' | 'Exact'
  readonly name: string
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
  readonly reinvocationPolicy?: 'IfNeeded' | 'Never'
  readonly rules?: readonly RuleWithOperations[]
  readonly sideEffects: 'None' | 'NoneOnDryRun' | 'Some' | 'Unknown'
  readonly timeoutSeconds?: number
}

export interface MutatingWebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly MutatingWebhook[]
}

export interface Mutation {
  readonly applyConfiguration?: ApplyConfiguration
  readonly jsonPatch?: JSONPatch
  readonly patchType: 'ApplyConfiguration' | 'JSONPatch'
}

export interface NFSVolumeSource {
  readonly path: string
  readonly readOnly?: boolean
  readonly server: string
}

export interface NamedRuleWithOperations {
  readonly apiGroups?: readonly string[]
  readonly apiVersions?: readonly string[]
  readonly operations?: readonly ('*' | 'CONNECT' | 'CREATE' | 'DELETE' | 'UPDATE')[]
  readonly resourceNames?: readonly string[]
  readonly resources?: readonly string[]
  readonly scope?: '*' | 'Cluster' | 'Namespaced'
}

export interface Namespace extends KubeObject {
  readonly spec?: NamespaceSpec
  readonly status?: NamespaceStatus
}

export interface NamespaceCondition {
  readonly lastTransitionTime?: string
  readonly message?: string
  readonly reason?: string
  readonly status: string
  readonly type: string
}

export interface NamespaceSpec {
  readonly finalizers?: readonly string[]
}

export interface NamespaceStatus {
  readonly conditions?: readonly NamespaceCondition[]
  readonly phase?: 'Active' | 'Terminating'
}

export interface NetworkDeviceData {
  readonly hardwareAddress?: string
  readonly interfaceName?: string
  readonly ips?: readonly string[]
}

export interface NetworkPolicy extends KubeObject {
  readonly spec?: NetworkPolicySpec
}

export interface NetworkPolicyEgressRule {
  readonly ports?: readonly NetworkPolicyPort[]
  readonly to?: readonly NetworkPolicyPeer[]
}

export interface NetworkPolicyIngressRule {
  readonly from?: readonly NetworkPolicyPeer[]
  readonly ports?: readonly NetworkPolicyPort[]
}

export interface NetworkPolicyPeer {
  readonly ipBlock?: IPBlock
  readonly namespaceSelector?: LabelSelector
  readonly podSelector?: LabelSelector
}

export interface NetworkPolicyPort {
  readonly endPort?: number
  readonly port?: number | string
  readonly protocol?: 'SCTP' | 'TCP' | 'UDP'
}

export interface NetworkPolicySpec {
  readonly egress?: readonly NetworkPolicyEgressRule[]
  readonly ingress?: readonly NetworkPolicyIngressRule[]
  readonly podSelector?: LabelSelector
  readonly policyTypes?: readonly ('Egress' | 'Ingress')[]
}

export interface Node extends KubeObject {
  readonly spec?: NodeSpec
  readonly status?: NodeStatus
}

export interface NodeAddress {
  readonly address: string
  readonly type: string
}

export interface NodeAffinity {
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly PreferredSchedulingTerm[]
  readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector
}

export interface NodeAllocatableResourceClaimStatus {
  readonly containers?: readonly string[]
  readonly resourceClaimName: string
  readonly resources: Readonly<Record<string, string>>
}

export interface NodeAllocatableResourceMapping {
  readonly allocationMultiplier?: string
  readonly capacityKey?: string
}

export interface NodeCondition {
  readonly lastHeartbeatTime?: string
  readonly lastTransitionTime?: string
  readonly message?: string
  readonly reason?: string
  readonly status: string
  readonly type: string
}

export interface NodeConfigSource {
  readonly configMap?: ConfigMapNodeConfigSource
}

export interface NodeConfigStatus {
  readonly active?: NodeConfigSource
  readonly assigned?: NodeConfigSource
  readonly error?: string
  readonly lastKnownGood?: NodeConfigSource
}

export interface NodeDaemonEndpoints {
  readonly kubeletEndpoint?: DaemonEndpoint
}

export interface NodeFeatures {
  readonly supplementalGroupsPolicy?: boolean
}

export interface NodeRuntimeHandler {
  readonly features?: NodeRuntimeHandlerFeatures
  readonly name?: string
}

export interface NodeRuntimeHandlerFeatures {
  readonly recursiveReadOnlyMounts?: boolean
  readonly userNamespaces?: boolean
}

export interface NodeSelector {
  readonly nodeSelectorTerms: readonly NodeSelectorTerm[]
}

export interface NodeSelectorRequirement {
  readonly key: string
  readonly operator: 'DoesNotExist' | 'Exists' | 'Gt' | 'In' | 'Lt' | 'NotIn'
  readonly values?: readonly string[]
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[]
  readonly matchFields?: readonly NodeSelectorRequirement[]
}

export interface NodeSpec {
  readonly configSource?: NodeConfigSource
  readonly externalID?: string
  readonly podCIDR?: string
  readonly podCIDRs?: readonly string[]
  readonly providerID?: string
  readonly taints?: readonly Taint[]
  readonly unschedulable?: boolean
}

export interface NodeStatus {
  readonly addresses?: readonly NodeAddress[]
  readonly allocatable?: Readonly<Record<string, string>>
  readonly capacity?: Readonly<Record<string, string>>
  readonly conditions?: readonly NodeCondition[]
  readonly config?: NodeConfigStatus
  readonly daemonEndpoints?: NodeDaemonEndpoints
  readonly declaredFeatures?: readonly string[]
  readonly features?: NodeFeatures
  readonly images?: readonly ContainerImage[]
  readonly nodeInfo?: NodeSystemInfo
  readonly phase?: 'Pending' | 'Running' | 'Terminated'
  readonly runtimeHandlers?: readonly NodeRuntimeHandler[]
  readonly volumesAttached?: readonly AttachedVolume[]
  readonly volumesInUse?: readonly string[]
}

export interface NodeSwapStatus {
  readonly capacity?: number
}

export interface NodeSystemInfo {
  readonly architecture: string
  readonly bootID: string
  readonly containerRuntimeVersion: string
  readonly kernelVersion: string
  readonly kubeProxyVersion: string
  readonly kubeletVersion: string
  readonly machineID: string
  readonly operatingSystem: string
  readonly osImage: string
  readonly swap?: NodeSwapStatus
  readonly systemUUID: string
}

export interface NonResourceAttributes {
  readonly path?: string
  readonly verb?: string
}

export interface NonResourcePolicyRule {
  readonly nonResourceURLs: readonly string[]
  readonly verbs: readonly string[]
}

export interface NonResourceRule {
  readonly nonResourceURLs?: readonly string[]
  readonly verbs: readonly string[]
}

export interface ObjectFieldSelector {
  readonly apiVersion?: string
  readonly fieldPath: string
}

export interface ObjectMetricSource {
  readonly describedObject: CrossVersionObjectReference
  readonly metric: MetricIdentifier
  readonly target: MetricTarget
}

export interface ObjectMetricStatus {
  readonly current: MetricValueStatus
  readonly describedObject: CrossVersionObjectReference
  readonly metric: MetricIdentifier
}

export interface ObjectReference {
  readonly apiVersion?: string
  readonly fieldPath?: string
  readonly kind?: string
  readonly name?: string
  readonly namespace?: string
  readonly resourceVersion?: string
  readonly uid?: string
}

export interface OpaqueDeviceConfiguration {
  readonly driver: string
  readonly parameters: Readonly<Record<string, unknown>>
}

export interface Overhead {
  readonly podFixed?: Readonly<Record<string, string>>
}

export interface ParamKind {
  readonly apiVersion?: string
  readonly kind?: string
}

export interface ParamRef {
  readonly name?: string
  readonly namespace?: string
  readonly parameterNotFoundAction?: string
  readonly selector?: LabelSelector
}

export interface ParentReference {
  readonly group?: string
  readonly name: string
  readonly namespace?: string
  readonly resource: string
}

export interface PersistentVolume extends KubeObject {
  readonly spec?: PersistentVolumeSpec
  readonly status?: PersistentVolumeStatus
}

export interface PersistentVolumeClaim extends KubeObject {
  readonly spec?: PersistentVolumeClaimSpec
  readonly status?: PersistentVolumeClaimStatus
}

export interface PersistentVolumeClaimCondition {
  readonly lastProbeTime?: string
  readonly lastTransitionTime?: string
  readonly message?: string
  readonly reason?: string
  readonly status: string
  readonly type: string
}

export interface PersistentVolumeClaimSpec {
  readonly accessModes?: readonly ('ReadOnlyMany' | 'ReadWriteMany' | 'ReadWriteOnce' | 'ReadWriteOncePod')[]
  readonly dataSource?: TypedLocalObjectReference
  readonly dataSourceRef?: TypedObjectReference
  readonly resources?: VolumeResourceRequirements
  readonly selector?: LabelSelector
  readonly storageClassName?: string
  readonly volumeAttributesClassName?: string
  readonly volumeMode?: 'Block' | 'Filesystem'
  readonly volumeName?: string
}

export interface PersistentVolumeClaimStatus {
  readonly accessModes?: readonly ('ReadOnlyMany' | 'ReadWriteMany' | 'ReadWriteOnce' | 'ReadWriteOncePod')[]
  readonly allocatedResourceStatuses?: Readonly<Record<string, 'ControllerResizeInProgress' | 'ControllerResizeInfeasible' | 'NodeResizeInProgress' | 'NodeResizeInfeasible' | 'NodeResizePending'>>
  readonly allocatedResources?: Readonly<Record<string, string>>
  readonly capacity?: Readonly<Record<string, string>>
  readonly conditions?: readonly PersistentVolumeClaimCondition[]
  readonly currentVolumeAttributesClassName?: string
  readonly modifyVolumeStatus?: ModifyVolumeStatus
  readonly phase?: 'Bound' | 'Lost' | 'Pending'
}

export interface PersistentVolumeClaimTemplate {
  readonly metadata?: ObjectMeta
  readonly spec: PersistentVolumeClaimSpec
}

export interface PersistentVolumeClaimVolumeSource {
  readonly claimName: string
  readonly readOnly?: boolean
}

export interface PersistentVolumeSpec {
  readonly accessModes?: readonly ('ReadOnlyMany' | 'ReadWriteMany' | 'ReadWriteOnce' | 'ReadWriteOncePod')[]
  readonly awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource
  readonly azureDisk?: AzureDiskVolumeSource
  readonly azureFile?: AzureFilePersistentVolumeSource
  readonly capacity?: Readonly<Record<string, string>>
  readonly cephfs?: CephFSPersistentVolumeSource
  readonly cinder?: CinderPersistentVolumeSource
  readonly claimRef?: ObjectReference
  readonly csi?: CSIPersistentVolumeSource
  readonly fc?: FCVolumeSource
  readonly flexVolume?: FlexPersistentVolumeSource
  readonly flocker?: FlockerVolumeSource
  readonly gcePersistentDisk?: GCEPersistentDiskVolumeSource
  readonly glusterfs?: GlusterfsPersistentVolumeSource
  readonly hostPath?: HostPathVolumeSource
  readonly iscsi?: ISCSIPersistentVolumeSource
  readonly local?: LocalVolumeSource
  readonly mountOptions?: readonly string[]
  readonly nfs?: NFSVolumeSource
  readonly nodeAffinity?: VolumeNodeAffinity
  readonly persistentVolumeReclaimPolicy?: 'Delete' | 'Recycle' | 'Retain'
  readonly photonPersistentDisk?: PhotonPersistentDiskVolumeSource
  readonly portworxVolume?: PortworxVolumeSource
  readonly quobyte?: QuobyteVolumeSource
  readonly rbd?: RBDPersistentVolumeSource
  readonly scaleIO?: ScaleIOPersistentVolumeSource
  readonly storageClassName?: string
  readonly storageos?: StorageOSPersistentVolumeSource
  readonly volumeAttributesClassName?: string
  readonly volumeMode?: 'Block' | 'Filesystem'
  readonly vsphereVolume?: VsphereVirtualDiskVolumeSource
}

export interface PersistentVolumeStatus {
  readonly lastPhaseTransitionTime?: string
  readonly message?: string
  readonly phase?: 'Available' | 'Bound' | 'Failed' | 'Pending' | 'Released'
  readonly reason?: string
}

export interface PhotonPersistentDiskVolumeSource {
  readonly fsType?: string
  readonly pdID: string
}

export interface Pod extends KubeObject {
  readonly spec?: PodSpec
  readonly status?: PodStatus
}

export interface PodAffinity {
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[]
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[]
}

export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelector
  readonly matchLabelKeys?: readonly string[]
  readonly mismatchLabelKeys?: readonly string[]
  readonly namespaceSelector?: LabelSelector
  readonly namespaces?: readonly string[]
  readonly topologyKey: string
}

export interface PodAntiAffinity {
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[]
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[]
}

export interface PodCertificateProjection {
  readonly certificateChainPath?: string
  readonly credentialBundlePath?: string
  readonly keyPath?: string
  readonly keyType: string
  readonly maxExpirationSeconds?: number
  readonly signerName: string
  readonly userAnnotations?: Readonly<Record<string, string>>
}

export interface PodCondition {
  readonly lastProbeTime?: string
  readonly lastTransitionTime?: string
  readonly message?: string
  readonly observedGeneration?: number
  readonly reason?: string
  readonly status: string
  readonly type: string
}

export interface PodDNSConfig {
  readonly nameservers?: readonly string[]
  readonly options?: readonly PodDNSConfigOption[]
  readonly searches?: readonly string[]
}

export interface PodDNSConfigOption {
  readonly name?: string
  readonly value?: string
}

export interface PodDisruptionBudget extends KubeObject {
  readonly spec?: PodDisruptionBudgetSpec
  readonly status?: PodDisruptionBudgetStatus
}

export interface PodDisruptionBudgetSpec {
  readonly maxUnavailable?: number | string
  readonly minAvailable?: number | string
  readonly selector?: LabelSelector
  readonly unhealthyPodEvictionPolicy?: 'AlwaysAllow' | 'IfHealthyBudget'
}

export interface PodDisruptionBudgetStatus {
  readonly conditions?: readonly Condition[]
  readonly currentHealthy?: number
  readonly desiredHealthy?: number
  readonly disruptedPods?: Readonly<Record<string, string>>
  readonly disruptionsAllowed?: number
  readonly expectedPods?: number
  readonly observedGeneration?: number
}

export interface PodExtendedResourceClaimStatus {
  readonly requestMappings: readonly ContainerExtendedResourceRequest[]
  readonly resourceClaimName: string
}

export interface PodFailurePolicy {
  readonly rules: readonly PodFailurePolicyRule[]
}

export interface PodFailurePolicyOnExitCodesRequirement {
  readonly containerName?: string
  readonly operator: 'In' | 'NotIn'
  readonly values: readonly number[]
}

export interface PodFailurePolicyOnPodConditionsPattern {
  readonly status?: string
  readonly type: string
}

export interface PodFailurePolicyRule {
  readonly action: 'Count' | 'FailIndex' | 'FailJob' | 'Ignore'
  readonly onExitCodes?: PodFailurePolicyOnExitCodesRequirement
  readonly onPodConditions?: readonly PodFailurePolicyOnPodConditionsPattern[]
}

export interface PodIP {
  readonly ip: string
}

export interface PodOS {
  readonly name: string
}

export interface PodReadinessGate {
  readonly conditionType: string
}

export interface PodResourceClaim {
  readonly name: string
  readonly resourceClaimName?: string
  readonly resourceClaimTemplateName?: string
}

export interface PodResourceClaimStatus {
  readonly name: string
  readonly resourceClaimName?: string
}

export interface PodSchedulingGate {
  readonly name: string
}

export interface PodSchedulingGroup {
  readonly podGroupName?: string
}

export interface PodSecurityContext {
  readonly appArmorProfile?: AppArmorProfile
  readonly fsGroup?: number
  readonly fsGroupChangePolicy?: 'Always' | 'OnRootMismatch'
  readonly runAsGroup?: number
  readonly runAsNonRoot?: boolean
  readonly runAsUser?: number
  readonly seLinuxChangePolicy?: string
  readonly seLinuxOptions?: SELinuxOptions
  readonly seccompProfile?: SeccompProfile
  readonly supplementalGroups?: readonly number[]
  readonly supplementalGroupsPolicy?: 'Merge' | 'Strict'
  readonly sysctls?: readonly Sysctl[]
  readonly windowsOptions?: WindowsSecurityContextOptions
}

export interface PodSpec {
  readonly activeDeadlineSeconds?: number
  readonly affinity?: Affinity
  readonly automountServiceAccountToken?: boolean
  readonly containers: readonly Container[]
  readonly dnsConfig?: PodDNSConfig
  readonly dnsPolicy?: 'ClusterFirst' | 'ClusterFirstWithHostNet' | 'Default' | 'None'
  readonly enableServiceLinks?: boolean
  readonly ephemeralContainers?: readonly EphemeralContainer[]
  readonly hostAliases?: readonly HostAlias[]
  readonly hostIPC?: boolean
  readonly hostNetwork?: boolean
  readonly hostPID?: boolean
  readonly hostUsers?: boolean
  readonly hostname?: string
  readonly hostnameOverride?: string
  readonly imagePullSecrets?: readonly LocalObjectReference[]
  readonly initContainers?: readonly Container[]
  readonly nodeName?: string
  readonly nodeSelector?: Readonly<Record<string, string>>
  readonly os?: PodOS
  readonly overhead?: Readonly<Record<string, string>>
  readonly preemptionPolicy?: 'Never' | 'PreemptLowerPriority'
  readonly priority?: number
  readonly priorityClassName?: string
  readonly readinessGates?: readonly PodReadinessGate[]
  readonly resourceClaims?: readonly PodResourceClaim[]
  readonly resources?: ResourceRequirements
  readonly restartPolicy?: 'Always' | 'Never' | 'OnFailure'
  readonly runtimeClassName?: string
  readonly schedulerName?: string
  readonly schedulingGates?: readonly PodSchedulingGate[]
  readonly schedulingGroup?: PodSchedulingGroup
  readonly securityContext?: PodSecurityContext
  readonly serviceAccount?: string
  readonly serviceAccountName?: string
  readonly setHostnameAsFQDN?: boolean
  readonly shareProcessNamespace?: boolean
  readonly subdomain?: string
  readonly terminationGracePeriodSeconds?: number
  readonly tolerations?: readonly Toleration[]
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[]
  readonly volumes?: readonly Volume[]
}

export interface PodStatus {
  readonly allocatedResources?: Readonly<Record<string, string>>
  readonly conditions?: readonly PodCondition[]
  readonly containerStatuses?: readonly ContainerStatus[]
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[]
  readonly extendedResourceClaimStatus?: PodExtendedResourceClaimStatus
  readonly hostIP?: string
  readonly hostIPs?: readonly HostIP[]
  readonly initContainerStatuses?: readonly ContainerStatus[]
  readonly message?: string
  readonly nodeAllocatableResourceClaimStatuses?: readonly NodeAllocatableResourceClaimStatus[]
  readonly nominatedNodeName?: string
  readonly observedGeneration?: number
  readonly phase?: 'Failed' | 'Pending' | 'Running' | 'Succeeded' | 'Unknown'
  readonly podIP?: string
  readonly podIPs?: readonly PodIP[]
  readonly qosClass?: 'BestEffort' | 'Burstable' | 'Guaranteed'
  readonly reason?: string
  readonly resize?: string
  readonly resourceClaimStatuses?: readonly PodResourceClaimStatus[]
  readonly resources?: ResourceRequirements
  readonly startTime?: string
}

export interface PodTemplate extends KubeObject {
  readonly template?: PodTemplateSpec
}

export interface PodTemplateSpec {
  readonly metadata?: ObjectMeta
  readonly spec?: PodSpec
}

export interface PodsMetricSource {
  readonly metric: MetricIdentifier
  readonly target: MetricTarget
}

export interface PodsMetricStatus {
  readonly current: MetricValueStatus
  readonly metric: MetricIdentifier
}

export interface PolicyRule {
  readonly apiGroups?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly resources?: readonly string[]
  readonly verbs: readonly string[]
}

export interface PolicyRulesWithSubjects {
  readonly nonResourceRules?: readonly NonResourcePolicyRule[]
  readonly resourceRules?: readonly ResourcePolicyRule[]
  readonly subjects: readonly FlowcontrolSubject[]
}

export interface PortStatus {
  readonly error?: string
  readonly port: number
  readonly protocol: 'SCTP' | 'TCP' | 'UDP'
}

export interface PortworxVolumeSource {
  readonly fsType?: string
  readonly readOnly?: boolean
  readonly volumeID: string
}

export interface PreferredSchedulingTerm {
  readonly preference: NodeSelectorTerm
  readonly weight: number
}

export interface PriorityClass extends KubeObject {
  readonly description?: string
  readonly globalDefault?: boolean
  readonly preemptionPolicy?: 'Never' | 'PreemptLowerPriority'
  readonly value?: number
}

export interface PriorityLevelConfiguration extends KubeObject {
  readonly spec?: PriorityLevelConfigurationSpec
  readonly status?: PriorityLevelConfigurationStatus
}

export interface PriorityLevelConfigurationCondition {
  readonly lastTransitionTime?: string
  readonly message?: string
  readonly reason?: string
  readonly status?: string
  readonly type?: string
}

export interface PriorityLevelConfigurationReference {
  readonly name: string
}

export interface PriorityLevelConfigurationSpec {
  readonly exempt?: ExemptPriorityLevelConfiguration
  readonly limited?: LimitedPriorityLevelConfiguration
  readonly type: string
}

export interface PriorityLevelConfigurationStatus {
  readonly conditions?: readonly PriorityLevelConfigurationCondition[]
}

export interface Probe {
  readonly exec?: ExecAction
  readonly failureThreshold?: number
  readonly grpc?: GRPCAction
  readonly httpGet?: HTTPGetAction
  readonly initialDelaySeconds?: number
  readonly periodSeconds?: number
  readonly successThreshold?: number
  readonly tcpSocket?: TCPSocketAction
  readonly terminationGracePeriodSeconds?: number
  readonly timeoutSeconds?: number
}

export interface ProjectedVolumeSource {
  readonly defaultMode?: number
  readonly sources?: readonly VolumeProjection[]
}

export interface QueuingConfiguration {
  readonly handSize?: number
  readonly queueLengthLimit?: number
  readonly queues?: number
}

export interface QuobyteVolumeSource {
  readonly group?: string
  readonly readOnly?: boolean
  readonly registry: string
  readonly tenant?: string
  readonly user?: string
  readonly volume: string
}

export interface RBDPersistentVolumeSource {
  readonly fsType?: string
  readonly image: string
  readonly keyring?: string
  readonly monitors: readonly string[]
  readonly pool?: string
  readonly readOnly?: boolean
  readonly secretRef?: SecretReference
  readonly user?: string
}

export interface RBDVolumeSource {
  readonly fsType?: string
  readonly image: string
  readonly keyring?: string
  readonly monitors: readonly string[]
  readonly pool?: string
  readonly readOnly?: boolean
  readonly secretRef?: LocalObjectReference
  readonly user?: string
}

export interface RbacSubject {
  readonly apiGroup?: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

export interface ReplicaSet extends KubeObject {
  readonly spec?: ReplicaSetSpec
  readonly status?: ReplicaSetStatus
}

export interface ReplicaSetCondition {
  readonly lastTransitionTime?: string
  readonly message?: string
  readonly reason?: string
  readonly status: string
  readonly type: string
}

export interface ReplicaSetSpec {
  readonly minReadySeconds?: number
  readonly replicas?: number
  readonly selector: LabelSelector
  readonly template?: PodTemplateSpec
}

export interface ReplicaSetStatus {
  readonly availableReplicas?: number
  readonly conditions?: readonly ReplicaSetCondition[]
  readonly fullyLabeledReplicas?: number
  readonly observedGeneration?: number
  readonly readyReplicas?: number
  readonly replicas: number
  readonly terminatingReplicas?: number
}

export interface ReplicationController extends KubeObject {
  readonly spec?: ReplicationControllerSpec
  readonly status?: ReplicationControllerStatus
}

export interface ReplicationControllerCondition {
  readonly lastTransitionTime?: string
  readonly message?: string
  readonly reason?: string
  readonly status: string
  readonly type: string
}

export interface ReplicationControllerSpec {
  readonly minReadySeconds?: number
  readonly replicas?: number
  readonly selector?: Readonly<Record<string, string>>
  readonly template?: PodTemplateSpec
}

export interface ReplicationControllerStatus {
  readonly availableReplicas?: number
  readonly conditions?: readonly ReplicationControllerCondition[]
  readonly fullyLabeledReplicas?: number
  readonly observedGeneration?: number
  readonly readyReplicas?: number
  readonly replicas: number
}

export interface ResourceAttributes {
  readonly fieldSelector?: FieldSelectorAttributes
  readonly group?: string
  readonly labelSelector?: LabelSelectorAttributes
  readonly name?: string
  readonly namespace?: string
  readonly resource?: string
  readonly subresource?: string
  readonly verb?: string
  readonly version?: string
}

export interface ResourceClaim extends KubeObject {
  readonly spec: ResourceClaimSpec
  readonly status?: ResourceClaimStatus
}

export interface ResourceClaimConsumerReference {
  readonly apiGroup?: string
  readonly name: string
  readonly resource: string
  readonly uid: string
}

export interface ResourceClaimSpec {
  readonly devices?: DeviceClaim
}

export interface ResourceClaimStatus {
  readonly allocation?: AllocationResult
  readonly devices?: readonly AllocatedDeviceStatus[]
  readonly reservedFor?: readonly ResourceClaimConsumerReference[]
}

export interface ResourceClaimTemplate extends KubeObject {
  readonly spec: ResourceClaimTemplateSpec
}

export interface ResourceClaimTemplateSpec {
  readonly metadata?: ObjectMeta
  readonly spec: ResourceClaimSpec
}

export interface ResourceFieldSelector {
  readonly containerName?: string
  readonly divisor?: string
  readonly resource: string
}

export interface ResourceHealth {
  readonly health?: string
  readonly message?: string
  readonly resourceID: string
}

export interface ResourceMetricSource {
  readonly name: string
  readonly target: MetricTarget
}

export interface ResourceMetricStatus {
  readonly current: MetricValueStatus
  readonly name: string
}

export interface ResourcePolicyRule {
  readonly apiGroups: readonly string[]
  readonly clusterScope?: boolean
  readonly namespaces?: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

export interface ResourcePool {
  readonly generation: number
  readonly name: string
  readonly resourceSliceCount: number
}

export interface ResourceQuota extends KubeObject {
  readonly spec?: ResourceQuotaSpec
  readonly status?: ResourceQuotaStatus
}

export interface ResourceQuotaSpec {
  readonly hard?: Readonly<Record<string, string>>
  readonly scopeSelector?: ScopeSelector
  readonly scopes?: readonly ('BestEffort' | 'CrossNamespacePodAffinity' | 'NotBestEffort' | 'NotTerminating' | 'PriorityClass' | 'Terminating' | 'VolumeAttributesClass')[]
}

export interface ResourceQuotaStatus {
  readonly hard?: Readonly<Record<string, string>>
  readonly used?: Readonly<Record<string, string>>
}

export interface ResourceRequirements {
  readonly claims?: readonly CoreResourceClaim[]
  readonly limits?: Readonly<Record<string, string>>
  readonly requests?: Readonly<Record<string, string>>
}

export interface ResourceRule {
  readonly apiGroups?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly resources?: readonly string[]
  readonly verbs: readonly string[]
}

export interface ResourceSlice extends KubeObject {
  readonly spec: ResourceSliceSpec
}

export interface ResourceSliceSpec {
  readonly allNodes?: boolean
  readonly devices?: readonly Device[]
  readonly driver: string
  readonly nodeName?: string
  readonly nodeSelector?: NodeSelector
  readonly perDeviceNodeSelection?: boolean
  readonly pool: ResourcePool
  readonly sharedCounters?: readonly CounterSet[]
}

export interface ResourceStatus {
  readonly name: string
  readonly resources?: readonly ResourceHealth[]
}

export interface Role extends KubeObject {
  readonly rules?: readonly PolicyRule[]
}

export interface RoleBinding extends KubeObject {
  readonly roleRef: RoleRef
  readonly subjects?: readonly RbacSubject[]
}

export interface RoleRef {
  readonly apiGroup?: string
  readonly kind: string
  readonly name: string
}

export interface RollingUpdateDaemonSet {
  readonly maxSurge?: number | string
  readonly maxUnavailable?: number | string
}

export interface RollingUpdateDeployment {
  readonly maxSurge?: number | string
  readonly maxUnavailable?: number | string
}

export interface RollingUpdateStatefulSetStrategy {
  readonly maxUnavailable?: number | string
  readonly partition?: number
}

export interface RuleWithOperations {
  readonly apiGroups?: readonly string[]
  readonly apiVersions?: readonly string[]
  readonly operations?: readonly ('*' | 'CONNECT' | 'CREATE' | 'DELETE' | 'UPDATE')[]
  readonly resources?: readonly string[]
  readonly scope?: '*' | 'Cluster' | 'Namespaced'
}

export interface RuntimeClass extends KubeObject {
  readonly handler: string
  readonly overhead?: Overhead
  readonly scheduling?: Scheduling
}

export interface SELinuxOptions {
  readonly level?: string
  readonly role?: string
  readonly type?: string
  readonly user?: string
}

export interface ScaleIOPersistentVolumeSource {
  readonly fsType?: string
  readonly gateway: string
  readonly protectionDomain?: string
  readonly readOnly?: boolean
  readonly secretRef: SecretReference
  readonly sslEnabled?: boolean
  readonly storageMode?: string
  readonly storagePool?: string
  readonly system: string
  readonly volumeName?: string
}

export interface ScaleIOVolumeSource {
  readonly fsType?: string
  readonly gateway: string
  readonly protectionDomain?: string
  readonly readOnly?: boolean
  readonly secretRef: LocalObjectReference
  readonly sslEnabled?: boolean
  readonly storageMode?: string
  readonly storagePool?: string
  readonly system: string
  readonly volumeName?: string
}

export interface Scheduling {
  readonly nodeSelector?: Readonly<Record<string, string>>
  readonly tolerations?: readonly Toleration[]
}

export interface ScopeSelector {
  readonly matchExpressions?: readonly ScopedResourceSelectorRequirement[]
}

export interface ScopedResourceSelectorRequirement {
  readonly operator: 'DoesNotExist' | 'Exists' | 'In' | 'NotIn'
  readonly scopeName: 'BestEffort' | 'CrossNamespacePodAffinity' | 'NotBestEffort' | 'NotTerminating' | 'PriorityClass' | 'Terminating' | 'VolumeAttributesClass'
  readonly values?: readonly string[]
}

export interface SeccompProfile {
  readonly localhostProfile?: string
  readonly type: 'Localhost' | 'RuntimeDefault' | 'Unconfined'
}

export interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
  readonly immutable?: boolean
  readonly stringData?: Readonly<Record<string, string>>
  readonly type?: string
}

export interface SecretEnvSource {
  readonly name?: string
  readonly optional?: boolean
}

export interface SecretKeySelector {
  readonly key: string
  readonly name?: string
  readonly optional?: boolean
}

export interface SecretProjection {
  readonly items?: readonly KeyToPath[]
  readonly name?: string
  readonly optional?: boolean
}

export interface SecretReference {
  readonly name?: string
  readonly namespace?: string
}

export interface SecretVolumeSource {
  readonly defaultMode?: number
  readonly items?: readonly KeyToPath[]
  readonly optional?: boolean
  readonly secretName?: string
}

export interface SecurityContext {
  readonly allowPrivilegeEscalation?: boolean
  readonly appArmorProfile?: AppArmorProfile
  readonly capabilities?: Capabilities
  readonly privileged?: boolean
  readonly procMount?: 'Default' | 'Unmasked'
  readonly readOnlyRootFilesystem?: boolean
  readonly runAsGroup?: number
  readonly runAsNonRoot?: boolean
  readonly runAsUser?: number
  readonly seLinuxOptions?: SELinuxOptions
  readonly seccompProfile?: SeccompProfile
  readonly windowsOptions?: WindowsSecurityContextOptions
}

export interface SelectableField {
  readonly jsonPath: string
}

export interface SelfSubjectAccessReview extends KubeObject {
  readonly spec: SelfSubjectAccessReviewSpec
  readonly status?: SubjectAccessReviewStatus
}

export interface SelfSubjectAccessReviewSpec {
  readonly nonResourceAttributes?: NonResourceAttributes
  readonly resourceAttributes?: ResourceAttributes
}

export interface SelfSubjectReview extends KubeObject {
  readonly status?: SelfSubjectReviewStatus
}

export interface SelfSubjectReviewStatus {
  readonly userInfo?: UserInfo
}

export interface SelfSubjectRulesReview extends KubeObject {
  readonly spec: SelfSubjectRulesReviewSpec
  readonly status?: SubjectRulesReviewStatus
}

export interface SelfSubjectRulesReviewSpec {
  readonly namespace?: string
}

export interface Service extends KubeObject {
  readonly spec?: ServiceSpec
  readonly status?: ServiceStatus
}

export interface ServiceAccount extends KubeObject {
  readonly automountServiceAccountToken?: boolean
  readonly imagePullSecrets?: readonly LocalObjectReference[]
  readonly secrets?: readonly ObjectReference[]
}

export interface ServiceAccountSubject {
  readonly name: string
  readonly namespace: string
}

export interface ServiceAccountTokenProjection {
  readonly audience?: string
  readonly expirationSeconds?: number
  readonly path: string
}

export interface ServiceBackendPort {
  readonly name?: string
  readonly number?: number
}

export interface ServiceCIDR extends KubeObject {
  readonly spec?: ServiceCIDRSpec
  readonly status?: ServiceCIDRStatus
}

export interface ServiceCIDRSpec {
  readonly cidrs?: readonly string[]
}

export interface ServiceCIDRStatus {
  readonly conditions?: readonly Condition[]
}

export interface ServicePort {
  readonly appProtocol?: string
  readonly name?: string
  readonly nodePort?: number
  readonly port: number
  readonly protocol?: 'SCTP' | 'TCP' | 'UDP'
  readonly targetPort?: number | string
}

export interface ServiceSpec {
  readonly allocateLoadBalancerNodePorts?: boolean
  readonly clusterIP?: string
  readonly clusterIPs?: readonly string[]
  readonly externalIPs?: readonly string[]
  readonly externalName?: string
  readonly externalTrafficPolicy?: 'Cluster' | 'Local'
  readonly healthCheckNodePort?: number
  readonly internalTrafficPolicy?: 'Cluster' | 'Local'
  readonly ipFamilies?: readonly ('' | 'IPv4' | 'IPv6')[]
  readonly ipFamilyPolicy?: 'PreferDualStack' | 'RequireDualStack' | 'SingleStack'
  readonly loadBalancerClass?: string
  readonly loadBalancerIP?: string
  readonly loadBalancerSourceRanges?: readonly string[]
  readonly ports?: readonly ServicePort[]
  readonly publishNotReadyAddresses?: boolean
  readonly selector?: Readonly<Record<string, string>>
  readonly sessionAffinity?: 'ClientIP' | 'None'
  readonly sessionAffinityConfig?: SessionAffinityConfig
  readonly trafficDistribution?: string
  readonly type?: 'ClusterIP' | 'ExternalName' | 'LoadBalancer' | 'NodePort'
}

export interface ServiceStatus {
  readonly conditions?: readonly Condition[]
  readonly loadBalancer?: LoadBalancerStatus
}

export interface SessionAffinityConfig {
  readonly clientIP?: ClientIPConfig
}

export interface SleepAction {
  readonly seconds: number
}

export interface StatefulSet extends KubeObject {
  readonly spec?: StatefulSetSpec
  readonly status?: StatefulSetStatus
}

export interface StatefulSetCondition {
  readonly lastTransitionTime?: string
  readonly message?: string
  readonly reason?: string
  readonly status: string
  readonly type: string
}

export interface StatefulSetOrdinals {
  readonly start?: number
}

export interface StatefulSetPersistentVolumeClaimRetentionPolicy {
  readonly whenDeleted?: string
  readonly whenScaled?: string
}

export interface StatefulSetSpec {
  readonly minReadySeconds?: number
  readonly ordinals?: StatefulSetOrdinals
  readonly persistentVolumeClaimRetentionPolicy?: StatefulSetPersistentVolumeClaimRetentionPolicy
  readonly podManagementPolicy?: 'OrderedReady' | 'Parallel'
  readonly replicas?: number
  readonly revisionHistoryLimit?: number
  readonly selector: LabelSelector
  readonly serviceName?: string
  readonly template: PodTemplateSpec
  readonly updateStrategy?: StatefulSetUpdateStrategy
  readonly volumeClaimTemplates?: readonly PersistentVolumeClaim[]
}

export interface StatefulSetStatus {
  readonly availableReplicas?: number
  readonly collisionCount?: number
  readonly conditions?: readonly StatefulSetCondition[]
  readonly currentReplicas?: number
  readonly currentRevision?: string
  readonly observedGeneration?: number
  readonly readyReplicas?: number
  readonly replicas: number
  readonly updateRevision?: string
  readonly updatedReplicas?: number
}

export interface StatefulSetUpdateStrategy {
  readonly rollingUpdate?: RollingUpdateStatefulSetStrategy
  readonly type?: 'OnDelete' | 'RollingUpdate'
}

export interface StorageClass extends KubeObject {
  readonly allowVolumeExpansion?: boolean
  readonly allowedTopologies?: readonly TopologySelectorTerm[]
  readonly mountOptions?: readonly string[]
  readonly parameters?: Readonly<Record<string, string>>
  readonly provisioner: string
  readonly reclaimPolicy?: 'Delete' | 'Recycle' | 'Retain'
  readonly volumeBindingMode?: 'Immediate' | 'WaitForFirstConsumer'
}

export interface StorageOSPersistentVolumeSource {
  readonly fsType?: string
  readonly readOnly?: boolean
  readonly secretRef?: ObjectReference
  readonly volumeName?: string
  readonly volumeNamespace?: string
}

export interface StorageOSVolumeSource {
  readonly fsType?: string
  readonly readOnly?: boolean
  readonly secretRef?: LocalObjectReference
  readonly volumeName?: string
  readonly volumeNamespace?: string
}

export interface SubjectAccessReview extends KubeObject {
  readonly spec: SubjectAccessReviewSpec
  readonly status?: SubjectAccessReviewStatus
}

export interface SubjectAccessReviewSpec {
  readonly extra?: Readonly<Record<string, readonly string[]>>
  readonly groups?: readonly string[]
  readonly nonResourceAttributes?: NonResourceAttributes
  readonly resourceAttributes?: ResourceAttributes
  readonly uid?: string
  readonly user?: string
}

export interface SubjectAccessReviewStatus {
  readonly allowed: boolean
  readonly denied?: boolean
  readonly evaluationError?: string
  readonly reason?: string
}

export interface SubjectRulesReviewStatus {
  readonly evaluationError?: string
  readonly incomplete: boolean
  readonly nonResourceRules: readonly NonResourceRule[]
  readonly resourceRules: readonly ResourceRule[]
}

export interface SuccessPolicy {
  readonly rules: readonly SuccessPolicyRule[]
}

export interface SuccessPolicyRule {
  readonly succeededCount?: number
  readonly succeededIndexes?: string
}

export interface Sysctl {
  readonly name: string
  readonly value: string
}

export interface TCPSocketAction {
  readonly host?: string
  readonly port: number | string
}

export interface Taint {
  readonly effect: 'NoExecute' | 'NoSchedule' | 'PreferNoSchedule'
  readonly key: string
  readonly timeAdded?: string
  readonly value?: string
}

export interface TokenRequest {
  readonly audience: string
  readonly expirationSeconds?: number
}

export interface TokenReview extends KubeObject {
  readonly spec: TokenReviewSpec
  readonly status?: TokenReviewStatus
}

export interface TokenReviewSpec {
  readonly audiences?: readonly string[]
  readonly token: string
}

export interface TokenReviewStatus {
  readonly audiences?: readonly string[]
  readonly authenticated?: boolean
  readonly error?: string
  readonly user?: UserInfo
}

export interface Toleration {
  readonly effect?: 'NoExecute' | 'NoSchedule' | 'PreferNoSchedule'
  readonly key?: string
  readonly operator?: 'Equal' | 'Exists' | 'Gt' | 'Lt'
  readonly tolerationSeconds?: number
  readonly value?: string
}

export interface TopologySelectorLabelRequirement {
  readonly key: string
  readonly values: readonly string[]
}

export interface TopologySelectorTerm {
  readonly matchLabelExpressions?: readonly TopologySelectorLabelRequirement[]
}

export interface TopologySpreadConstraint {
  readonly labelSelector?: LabelSelector
  readonly matchLabelKeys?: readonly string[]
  readonly maxSkew: number
  readonly minDomains?: number
  readonly nodeAffinityPolicy?: 'Honor' | 'Ignore'
  readonly nodeTaintsPolicy?: 'Honor' | 'Ignore'
  readonly topologyKey: string
  readonly whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway'
}

export interface TypeChecking {
  readonly expressionWarnings?: readonly ExpressionWarning[]
}

export interface TypedLocalObjectReference {
  readonly apiGroup?: string
  readonly kind: string
  readonly name: string
}

export interface TypedObjectReference {
  readonly apiGroup?: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

export interface UncountedTerminatedPods {
  readonly failed?: readonly string[]
  readonly succeeded?: readonly string[]
}

export interface UserInfo {
  readonly extra?: Readonly<Record<string, readonly string[]>>
  readonly groups?: readonly string[]
  readonly uid?: string
  readonly username?: string
}

export interface UserSubject {
  readonly name: string
}

export interface ValidatingAdmissionPolicy extends KubeObject {
  readonly spec?: ValidatingAdmissionPolicySpec
  readonly status?: ValidatingAdmissionPolicyStatus
}

export interface ValidatingAdmissionPolicyBinding extends KubeObject {
  readonly spec: ValidatingAdmissionPolicyBindingSpec
}

export interface ValidatingAdmissionPolicyBindingSpec {
  readonly matchResources?: MatchResources
  readonly paramRef?: ParamRef
  readonly policyName: string
  readonly validationActions: readonly ('Audit' | 'Deny' | 'Warn')[]
}

export interface ValidatingAdmissionPolicySpec {
  readonly auditAnnotations?: readonly AuditAnnotation[]
  readonly failurePolicy?: 'Fail' | 'Ignore'
  readonly matchConditions?: readonly MatchCondition[]
  readonly matchConstraints?: MatchResources
  readonly paramKind?: ParamKind
  readonly validations?: readonly Validation[]
  readonly variables?: readonly Variable[]
}

export interface ValidatingAdmissionPolicyStatus {
  readonly conditions?: readonly Condition[]
  readonly observedGeneration?: number
  readonly typeChecking?: TypeChecking
}

export interface ValidatingWebhook {
  readonly admissionReviewVersions: readonly string[]
  readonly clientConfig: AdmissionregistrationWebhookClientConfig
  readonly failurePolicy?: 'Fail' | 'Ignore'
  readonly matchConditions?: readonly MatchCondition[]
  readonly matchPolicy?: 'Equivalent' | 'Exact'
  readonly name: string
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
  readonly rules?: readonly RuleWithOperations[]
  readonly sideEffects: 'None' | 'NoneOnDryRun' | 'Some' | 'Unknown'
  readonly timeoutSeconds?: number
}

export interface ValidatingWebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly ValidatingWebhook[]
}

export interface Validation {
  readonly expression: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: string
}

export interface ValidationRule {
  readonly fieldPath?: string
  readonly message?: string
  readonly messageExpression?: string
  readonly optionalOldSelf?: boolean
  readonly reason?: 'FieldValueDuplicate' | 'FieldValueForbidden' | 'FieldValueInvalid' | 'FieldValueRequired'
  readonly rule: string
}

export interface Variable {
  readonly expression: string
  readonly name: string
}

export interface Volume {
  readonly awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource
  readonly azureDisk?: AzureDiskVolumeSource
  readonly azureFile?: AzureFileVolumeSource
  readonly cephfs?: CephFSVolumeSource
  readonly cinder?: CinderVolumeSource
  readonly configMap?: ConfigMapVolumeSource
  readonly csi?: CSIVolumeSource
  readonly downwardAPI?: DownwardAPIVolumeSource
  readonly emptyDir?: EmptyDirVolumeSource
  readonly ephemeral?: EphemeralVolumeSource
  readonly fc?: FCVolumeSource
  readonly flexVolume?: FlexVolumeSource
  readonly flocker?: FlockerVolumeSource
  readonly gcePersistentDisk?: GCEPersistentDiskVolumeSource
  readonly gitRepo?: GitRepoVolumeSource
  readonly glusterfs?: GlusterfsVolumeSource
  readonly hostPath?: HostPathVolumeSource
  readonly image?: ImageVolumeSource
  readonly iscsi?: ISCSIVolumeSource
  readonly name: string
  readonly nfs?: NFSVolumeSource
  readonly persistentVolumeClaim?: PersistentVolumeClaimVolumeSource
  readonly photonPersistentDisk?: PhotonPersistentDiskVolumeSource
  readonly portworxVolume?: PortworxVolumeSource
  readonly projected?: ProjectedVolumeSource
  readonly quobyte?: QuobyteVolumeSource
  readonly rbd?: RBDVolumeSource
  readonly scaleIO?: ScaleIOVolumeSource
  readonly secret?: SecretVolumeSource
  readonly storageos?: StorageOSVolumeSource
  readonly vsphereVolume?: VsphereVirtualDiskVolumeSource
}

export interface VolumeAttachment extends KubeObject {
  readonly spec: VolumeAttachmentSpec
  readonly status?: VolumeAttachmentStatus
}

export interface VolumeAttachmentSource {
  readonly inlineVolumeSpec?: PersistentVolumeSpec
  readonly persistentVolumeName?: string
}

export interface VolumeAttachmentSpec {
  readonly attacher: string
  readonly nodeName: string
  readonly source: VolumeAttachmentSource
}

export interface VolumeAttachmentStatus {
  readonly attachError?: VolumeError
  readonly attached: boolean
  readonly attachmentMetadata?: Readonly<Record<string, string>>
  readonly detachError?: VolumeError
}

export interface VolumeAttributesClass extends KubeObject {
  readonly driverName: string
  readonly parameters?: Readonly<Record<string, string>>
}

export interface VolumeDevice {
  readonly devicePath: string
  readonly name: string
}

export interface VolumeError {
  readonly errorCode?: number
  readonly message?: string
  readonly time?: string
}

export interface VolumeMount {
  readonly mountPath: string
  readonly mountPropagation?: 'Bidirectional' | 'HostToContainer' | 'None'
  readonly name: string
  readonly readOnly?: boolean
  readonly recursiveReadOnly?: string
  readonly subPath?: string
  readonly subPathExpr?: string
}

export interface VolumeMountStatus {
  readonly mountPath: string
  readonly name: string
  readonly readOnly?: boolean
  readonly recursiveReadOnly?: string
  readonly volumeStatus?: VolumeStatus
}

export interface VolumeNodeAffinity {
  readonly required?: NodeSelector
}

export interface VolumeNodeResources {
  readonly count?: number
}

export interface VolumeProjection {
  readonly clusterTrustBundle?: ClusterTrustBundleProjection
  readonly configMap?: ConfigMapProjection
  readonly downwardAPI?: DownwardAPIProjection
  readonly podCertificate?: PodCertificateProjection
  readonly secret?: SecretProjection
  readonly serviceAccountToken?: ServiceAccountTokenProjection
}

export interface VolumeResourceRequirements {
  readonly limits?: Readonly<Record<string, string>>
  readonly requests?: Readonly<Record<string, string>>
}

export interface VolumeStatus {
  readonly image?: ImageVolumeStatus
}

export interface VsphereVirtualDiskVolumeSource {
  readonly fsType?: string
  readonly storagePolicyID?: string
  readonly storagePolicyName?: string
  readonly volumePath: string
}

export interface WebhookConversion {
  readonly clientConfig?: ApiextensionsWebhookClientConfig
  readonly conversionReviewVersions: readonly string[]
}

export interface WeightedPodAffinityTerm {
  readonly podAffinityTerm: PodAffinityTerm
  readonly weight: number
}

export interface WindowsSecurityContextOptions {
  readonly gmsaCredentialSpec?: string
  readonly gmsaCredentialSpecName?: string
  readonly hostProcess?: boolean
  readonly runAsUserName?: string
}
