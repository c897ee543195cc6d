// Kubernetes v1.36.3. Written by scripts/generate-kinds.ts: do not edit.
import { defineKind } from '../model/kind.ts'
import type { Kind } from '../model/kind.ts'
import type * as types from './types.ts'

export type {
  APIServiceCondition,
  APIServiceSpec,
  APIServiceStatus,
  AWSElasticBlockStoreVolumeSource,
  AdmissionregistrationServiceReference,
  AdmissionregistrationWebhookClientConfig,
  Affinity,
  AggregationRule,
  AllocatedDeviceStatus,
  AllocationResult,
  ApiextensionsServiceReference,
  ApiextensionsWebhookClientConfig,
  ApiregistrationServiceReference,
  AppArmorProfile,
  ApplyConfiguration,
  AttachedVolume,
  AuditAnnotation,
  AzureDiskVolumeSource,
  AzureFilePersistentVolumeSource,
  AzureFileVolumeSource,
  CELDeviceSelector,
  CSIDriverSpec,
  CSINodeDriver,
  CSINodeSpec,
  CSIPersistentVolumeSource,
  CSIVolumeSource,
  Capabilities,
  CapacityRequestPolicy,
  CapacityRequestPolicyRange,
  CapacityRequirements,
  CephFSPersistentVolumeSource,
  CephFSVolumeSource,
  CertificateSigningRequestCondition,
  CertificateSigningRequestSpec,
  CertificateSigningRequestStatus,
  CinderPersistentVolumeSource,
  CinderVolumeSource,
  ClientIPConfig,
  ClusterTrustBundleProjection,
  ComponentCondition,
  ConfigMapEnvSource,
  ConfigMapKeySelector,
  ConfigMapNodeConfigSource,
  ConfigMapProjection,
  ConfigMapVolumeSource,
  Container,
  ContainerExtendedResourceRequest,
  ContainerImage,
  ContainerPort,
  ContainerResizePolicy,
  ContainerResourceMetricSource,
  ContainerResourceMetricStatus,
  ContainerRestartRule,
  ContainerRestartRuleOnExitCodes,
  ContainerState,
  ContainerStateRunning,
  ContainerStateTerminated,
  ContainerStateWaiting,
  ContainerStatus,
  ContainerUser,
  CoreResourceClaim,
  Counter,
  CounterSet,
  CronJobSpec,
  CronJobStatus,
  CrossVersionObjectReference,
  CustomResourceColumnDefinition,
  CustomResourceConversion,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionStatus,
  CustomResourceDefinitionVersion,
  CustomResourceSubresourceScale,
  CustomResourceSubresourceStatus,
  CustomResourceSubresources,
  CustomResourceValidation,
  DaemonEndpoint,
  DaemonSetCondition,
  DaemonSetSpec,
  DaemonSetStatus,
  DaemonSetUpdateStrategy,
  DeploymentCondition,
  DeploymentSpec,
  DeploymentStatus,
  DeploymentStrategy,
  Device,
  DeviceAllocationConfiguration,
  DeviceAllocationResult,
  DeviceAttribute,
  DeviceCapacity,
  DeviceClaim,
  DeviceClaimConfiguration,
  DeviceClassConfiguration,
  DeviceClassSpec,
  DeviceConstraint,
  DeviceCounterConsumption,
  DeviceRequest,
  DeviceRequestAllocationResult,
  DeviceSelector,
  DeviceSubRequest,
  DeviceTaint,
  DeviceToleration,
  DiscoveryEndpointPort,
  DownwardAPIProjection,
  DownwardAPIVolumeFile,
  DownwardAPIVolumeSource,
  EmptyDirVolumeSource,
  Endpoint,
  EndpointAddress,
  EndpointConditions,
  EndpointHints,
  EndpointPort,
  EndpointSubset,
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  EphemeralContainer,
  EphemeralVolumeSource,
  EventSeries,
  EventSource,
  EventsEventSeries,
  ExactDeviceRequest,
  ExecAction,
  ExemptPriorityLevelConfiguration,
  ExpressionWarning,
  ExternalDocumentation,
  ExternalMetricSource,
  ExternalMetricStatus,
  FCVolumeSource,
  FieldSelectorAttributes,
  FieldSelectorRequirement,
  FileKeySelector,
  FlexPersistentVolumeSource,
  FlexVolumeSource,
  FlockerVolumeSource,
  FlowDistinguisherMethod,
  FlowSchemaCondition,
  FlowSchemaSpec,
  FlowSchemaStatus,
  FlowcontrolSubject,
  ForNode,
  ForZone,
  GCEPersistentDiskVolumeSource,
  GRPCAction,
  GitRepoVolumeSource,
  GlusterfsPersistentVolumeSource,
  GlusterfsVolumeSource,
  GroupSubject,
  HPAScalingPolicy,
  HPAScalingRules,
  HTTPGetAction,
  HTTPHeader,
  HTTPIngressPath,
  HTTPIngressRuleValue,
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerCondition,
  HorizontalPodAutoscalerSpec,
  HorizontalPodAutoscalerStatus,
  HostAlias,
  HostIP,
  HostPathVolumeSource,
  IPAddressSpec,
  IPBlock,
  ISCSIPersistentVolumeSource,
  ISCSIVolumeSource,
  ImageVolumeSource,
  ImageVolumeStatus,
  IngressBackend,
  IngressClassParametersReference,
  IngressClassSpec,
  IngressLoadBalancerIngress,
  IngressLoadBalancerStatus,
  IngressPortStatus,
  IngressRule,
  IngressServiceBackend,
  IngressSpec,
  IngressStatus,
  IngressTLS,
  JSONPatch,
  JSONSchemaProps,
  JobCondition,
  JobSpec,
  JobStatus,
  JobTemplateSpec,
  KeyToPath,
  LabelSelectorAttributes,
  LeaseSpec,
  Lifecycle,
  LifecycleHandler,
  LimitRangeItem,
  LimitRangeSpec,
  LimitResponse,
  LimitedPriorityLevelConfiguration,
  LinuxContainerUser,
  LoadBalancerIngress,
  LoadBalancerStatus,
  LocalObjectReference,
  LocalVolumeSource,
  MatchCondition,
  MatchResources,
  MetricIdentifier,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
  ModifyVolumeStatus,
  MutatingAdmissionPolicyBindingSpec,
  MutatingAdmissionPolicySpec,
  MutatingWebhook,
  Mutation,
  NFSVolumeSource,
  NamedRuleWithOperations,
  NamespaceCondition,
  NamespaceSpec,
  NamespaceStatus,
  NetworkDeviceData,
  NetworkPolicyEgressRule,
  NetworkPolicyIngressRule,
  NetworkPolicyPeer,
  NetworkPolicyPort,
  NetworkPolicySpec,
  NodeAddress,
  NodeAffinity,
  NodeAllocatableResourceClaimStatus,
  NodeAllocatableResourceMapping,
  NodeCondition,
  NodeConfigSource,
  NodeConfigStatus,
  NodeDaemonEndpoints,
  NodeFeatures,
  NodeRuntimeHandler,
  NodeRuntimeHandlerFeatures,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  NodeSpec,
  NodeStatus,
  NodeSwapStatus,
  NodeSystemInfo,
  NonResourceAttributes,
  NonResourcePolicyRule,
  NonResourceRule,
  ObjectFieldSelector,
  ObjectMetricSource,
  ObjectMetricStatus,
  ObjectReference,
  OpaqueDeviceConfiguration,
  Overhead,
  ParamKind,
  ParamRef,
  ParentReference,
  PersistentVolumeClaimCondition,
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimStatus,
  PersistentVolumeClaimTemplate,
  PersistentVolumeClaimVolumeSource,
  PersistentVolumeSpec,
  PersistentVolumeStatus,
  PhotonPersistentDiskVolumeSource,
  PodAffinity,
  PodAffinityTerm,
  PodAntiAffinity,
  PodCertificateProjection,
  PodCondition,
  PodDNSConfig,
  PodDNSConfigOption,
  PodDisruptionBudgetSpec,
  PodDisruptionBudgetStatus,
  PodExtendedResourceClaimStatus,
  PodFailurePolicy,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
  PodIP,
  PodOS,
  PodReadinessGate,
  PodResourceClaim,
  PodResourceClaimStatus,
  PodSchedulingGate,
  PodSchedulingGroup,
  PodSecurityContext,
  PodSpec,
  PodStatus,
  PodTemplateSpec,
  PodsMetricSource,
  PodsMetricStatus,
  PolicyRule,
  PolicyRulesWithSubjects,
  PortStatus,
  PortworxVolumeSource,
  PreferredSchedulingTerm,
  PriorityLevelConfigurationCondition,
  PriorityLevelConfigurationReference,
  PriorityLevelConfigurationSpec,
  PriorityLevelConfigurationStatus,
  Probe,
  ProjectedVolumeSource,
  QueuingConfiguration,
  QuobyteVolumeSource,
  RBDPersistentVolumeSource,
  RBDVolumeSource,
  RbacSubject,
  ReplicaSetCondition,
  ReplicaSetSpec,
  ReplicaSetStatus,
  ReplicationControllerCondition,
  ReplicationControllerSpec,
  ReplicationControllerStatus,
  ResourceAttributes,
  ResourceClaimConsumerReference,
  ResourceClaimSpec,
  ResourceClaimStatus,
  ResourceClaimTemplateSpec,
  ResourceFieldSelector,
  ResourceHealth,
  ResourceMetricSource,
  ResourceMetricStatus,
  ResourcePolicyRule,
  ResourcePool,
  ResourceQuotaSpec,
  ResourceQuotaStatus,
  ResourceRequirements,
  ResourceRule,
  ResourceSliceSpec,
  ResourceStatus,
  RoleRef,
  RollingUpdateDaemonSet,
  RollingUpdateDeployment,
  RollingUpdateStatefulSetStrategy,
  RuleWithOperations,
  SELinuxOptions,
  ScaleIOPersistentVolumeSource,
  ScaleIOVolumeSource,
  Scheduling,
  ScopeSelector,
  ScopedResourceSelectorRequirement,
  SeccompProfile,
  SecretEnvSource,
  SecretKeySelector,
  SecretProjection,
  SecretReference,
  SecretVolumeSource,
  SecurityContext,
  SelectableField,
  SelfSubjectAccessReviewSpec,
  SelfSubjectReviewStatus,
  SelfSubjectRulesReviewSpec,
  ServiceAccountSubject,
  ServiceAccountTokenProjection,
  ServiceBackendPort,
  ServiceCIDRSpec,
  ServiceCIDRStatus,
  ServicePort,
  ServiceSpec,
  ServiceStatus,
  SessionAffinityConfig,
  SleepAction,
  StatefulSetCondition,
  StatefulSetOrdinals,
  StatefulSetPersistentVolumeClaimRetentionPolicy,
  StatefulSetSpec,
  StatefulSetStatus,
  StatefulSetUpdateStrategy,
  StorageOSPersistentVolumeSource,
  StorageOSVolumeSource,
  SubjectAccessReviewSpec,
  SubjectAccessReviewStatus,
  SubjectRulesReviewStatus,
  SuccessPolicy,
  SuccessPolicyRule,
  Sysctl,
  TCPSocketAction,
  Taint,
  TokenRequest,
  TokenReviewSpec,
  TokenReviewStatus,
  Toleration,
  TopologySelectorLabelRequirement,
  TopologySelectorTerm,
  TopologySpreadConstraint,
  TypeChecking,
  TypedLocalObjectReference,
  TypedObjectReference,
  UncountedTerminatedPods,
  UserInfo,
  UserSubject,
  ValidatingAdmissionPolicyBindingSpec,
  ValidatingAdmissionPolicySpec,
  ValidatingAdmissionPolicyStatus,
  ValidatingWebhook,
  Validation,
  ValidationRule,
  Variable,
  Volume,
  VolumeAttachmentSource,
  VolumeAttachmentSpec,
  VolumeAttachmentStatus,
  VolumeDevice,
  VolumeError,
  VolumeMount,
  VolumeMountStatus,
  VolumeNodeAffinity,
  VolumeNodeResources,
  VolumeProjection,
  VolumeResourceRequirements,
  VolumeStatus,
  VsphereVirtualDiskVolumeSource,
  WebhookConversion,
  WeightedPodAffinityTerm,
  WindowsSecurityContextOptions,
} from './types.ts'

export type APIService = types.APIService
export const APIService: Kind<APIService> = defineKind({ apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', plural: 'apiservices', namespaced: false })

export type Binding = types.Binding
export const Binding: Kind<Binding> = defineKind({ apiVersion: 'v1', kind: 'Binding', plural: 'bindings' })

export type CSIDriver = types.CSIDriver
export const CSIDriver: Kind<CSIDriver> = defineKind({ apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', plural: 'csidrivers', namespaced: false })

export type CSINode = types.CSINode
export const CSINode: Kind<CSINode> = defineKind({ apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', plural: 'csinodes', namespaced: false })

export type CSIStorageCapacity = types.CSIStorageCapacity
export const CSIStorageCapacity: Kind<CSIStorageCapacity> = defineKind({ apiVersion: 'storage.k8s.io/v1', kind: 'CSIStorageCapacity', plural: 'csistoragecapacities' })

export type CertificateSigningRequest = types.CertificateSigningRequest
export const CertificateSigningRequest: Kind<CertificateSigningRequest> = defineKind({ apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', plural: 'certificatesigningrequests', namespaced: false })

export type ClusterRole = types.ClusterRole
export const ClusterRole: Kind<ClusterRole> = defineKind({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', plural: 'clusterroles', namespaced: false })

export type ClusterRoleBinding = types.ClusterRoleBinding
export const ClusterRoleBinding: Kind<ClusterRoleBinding> = defineKind({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', namespaced: false })

export type ComponentStatus = types.ComponentStatus
export const ComponentStatus: Kind<ComponentStatus> = defineKind({ apiVersion: 'v1', kind: 'ComponentStatus', plural: 'componentstatuses', namespaced: false })

export type ConfigMap = types.ConfigMap
export const ConfigMap: Kind<ConfigMap> = defineKind({ apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' })

export type ControllerRevision = types.ControllerRevision
export const ControllerRevision: Kind<ControllerRevision> = defineKind({ apiVersion: 'apps/v1', kind: 'ControllerRevision', plural: 'controllerrevisions' })

export type CoreEvent = types.CoreEvent
export const CoreEvent: Kind<CoreEvent> = defineKind({ apiVersion: 'v1', kind: 'Event', plural: 'events' })

export type CronJob = types.CronJob
export const CronJob: Kind<CronJob> = defineKind({ apiVersion: 'batch/v1', kind: 'CronJob', plural: 'cronjobs' })

export type CustomResourceDefinition = types.CustomResourceDefinition
export const CustomResourceDefinition: Kind<CustomResourceDefinition> = defineKind({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', plural: 'customresourcedefinitions', namespaced: false })

export type DaemonSet = types.DaemonSet
export const DaemonSet: Kind<DaemonSet> = defineKind({ apiVersion: 'apps/v1', kind: 'DaemonSet', plural: 'daemonsets' })

export type Deployment = types.Deployment
export const Deployment: Kind<Deployment> = defineKind({ apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments' })

export type DeviceClass = types.DeviceClass
export const DeviceClass: Kind<DeviceClass> = defineKind({ apiVersion: 'resource.k8s.io/v1', kind: 'DeviceClass', plural: 'deviceclasses', namespaced: false })

export type EndpointSlice = types.EndpointSlice
export const EndpointSlice: Kind<EndpointSlice> = defineKind({ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', plural: 'endpointslices' })

export type Endpoints = types.Endpoints
export const Endpoints: Kind<Endpoints> = defineKind({ apiVersion: 'v1', kind: 'Endpoints', plural: 'endpoints' })

export type Event = types.Event
export const Event: Kind<Event> = defineKind({ apiVersion: 'events.k8s.io/v1', kind: 'Event', plural: 'events' })

export type FlowSchema = types.FlowSchema
export const FlowSchema: Kind<FlowSchema> = defineKind({ apiVersion: 'flowcontrol.apiserver.k8s.io/v1', kind: 'FlowSchema', plural: 'flowschemas', namespaced: false })

export type HorizontalPodAutoscaler = types.HorizontalPodAutoscaler
export const HorizontalPodAutoscaler: Kind<HorizontalPodAutoscaler> = defineKind({ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', plural: 'horizontalpodautoscalers' })

export type IPAddress = types.IPAddress
export const IPAddress: Kind<IPAddress> = defineKind({ apiVersion: 'networking.k8s.io/v1', kind: 'IPAddress', plural: 'ipaddresses', namespaced: false })

export type Ingress = types.Ingress
export const Ingress: Kind<Ingress> = defineKind({ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', plural: 'ingresses' })

export type IngressClass = types.IngressClass
export const IngressClass: Kind<IngressClass> = defineKind({ apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass', plural: 'ingressclasses', namespaced: false })

export type Job = types.Job
export const Job: Kind<Job> = defineKind({ apiVersion: 'batch/v1', kind: 'Job', plural: 'jobs' })

export type Lease = types.Lease
export const Lease: Kind<Lease> = defineKind({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', plural: 'leases' })

export type LimitRange = types.LimitRange
export const LimitRange: Kind<LimitRange> = defineKind({ apiVersion: 'v1', kind: 'LimitRange', plural: 'limitranges' })

export type LocalSubjectAccessReview = types.LocalSubjectAccessReview
export const LocalSubjectAccessReview: Kind<LocalSubjectAccessReview> = defineKind({ apiVersion: 'authorization.k8s.io/v1', kind: 'LocalSubjectAccessReview', plural: 'localsubjectaccessreviews' })

export type MutatingAdmissionPolicy = types.MutatingAdmissionPolicy
export const MutatingAdmissionPolicy: Kind<MutatingAdmissionPolicy> = defineKind({ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingAdmissionPolicy', plural: 'mutatingadmissionpolicies', namespaced: false })

export type MutatingAdmissionPolicyBinding = types.MutatingAdmissionPolicyBinding
export const MutatingAdmissionPolicyBinding: Kind<MutatingAdmissionPolicyBinding> = defineKind({ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingAdmissionPolicyBinding', plural: 'mutatingadmissionpolicybindings', namespaced: false })

export type MutatingWebhookConfiguration = types.MutatingWebhookConfiguration
export const MutatingWebhookConfiguration: Kind<MutatingWebhookConfiguration> = defineKind({ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration', plural: 'mutatingwebhookconfigurations', namespaced: false })

export type Namespace = types.Namespace
export const Namespace: Kind<Namespace> = defineKind({ apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false })

export type NetworkPolicy = types.NetworkPolicy
export const NetworkPolicy: Kind<NetworkPolicy> = defineKind({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', plural: 'networkpolicies' })

export type Node = types.Node
export const Node: Kind<Node> = defineKind({ apiVersion: 'v1', kind: 'Node', plural: 'nodes', namespaced: false })

export type PersistentVolume = types.PersistentVolume
export const PersistentVolume: Kind<PersistentVolume> = defineKind({ apiVersion: 'v1', kind: 'PersistentVolume', plural: 'persistentvolumes', namespaced: false })

export type PersistentVolumeClaim = types.PersistentVolumeClaim
export const PersistentVolumeClaim: Kind<PersistentVolumeClaim> = defineKind({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', plural: 'persistentvolumeclaims' })

export type Pod = types.Pod
export const Pod: Kind<Pod> = defineKind({ apiVersion: 'v1', kind: 'Pod', plural: 'pods' })

export type PodDisruptionBudget = types.PodDisruptionBudget
export const PodDisruptionBudget: Kind<PodDisruptionBudget> = defineKind({ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets' })

export type PodTemplate = types.PodTemplate
export const PodTemplate: Kind<PodTemplate> = defineKind({ apiVersion: 'v1', kind: 'PodTemplate', plural: 'podtemplates' })

export type PriorityClass = types.PriorityClass
export const PriorityClass: Kind<PriorityClass> = defineKind({ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', plural: 'priorityclasses', namespaced: false })

export type PriorityLevelConfiguration = types.PriorityLevelConfiguration
export const PriorityLevelConfiguration: Kind<PriorityLevelConfiguration> = defineKind({ apiVersion: 'flowcontrol.apiserver.k8s.io/v1', kind: 'PriorityLevelConfiguration', plural: 'prioritylevelconfigurations', namespaced: false })

export type ReplicaSet = types.ReplicaSet
export const ReplicaSet: Kind<ReplicaSet> = defineKind({ apiVersion: 'apps/v1', kind: 'ReplicaSet', plural: 'replicasets' })

export type ReplicationController = types.ReplicationController
export const ReplicationController: Kind<ReplicationController> = defineKind({ apiVersion: 'v1', kind: 'ReplicationController', plural: 'replicationcontrollers' })

export type ResourceClaim = types.ResourceClaim
export const ResourceClaim: Kind<ResourceClaim> = defineKind({ apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaim', plural: 'resourceclaims' })

export type ResourceClaimTemplate = types.ResourceClaimTemplate
export const ResourceClaimTemplate: Kind<ResourceClaimTemplate> = defineKind({ apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaimTemplate', plural: 'resourceclaimtemplates' })

export type ResourceQuota = types.ResourceQuota
export const ResourceQuota: Kind<ResourceQuota> = defineKind({ apiVersion: 'v1', kind: 'ResourceQuota', plural: 'resourcequotas' })

export type ResourceSlice = types.ResourceSlice
export const ResourceSlice: Kind<ResourceSlice> = defineKind({ apiVersion: 'resource.k8s.io/v1', kind: 'ResourceSlice', plural: 'resourceslices', namespaced: false })

export type Role = types.Role
export const Role: Kind<Role> = defineKind({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', plural: 'roles' })

export type RoleBinding = types.RoleBinding
export const RoleBinding: Kind<RoleBinding> = defineKind({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', plural: 'rolebindings' })

export type RuntimeClass = types.RuntimeClass
export const RuntimeClass: Kind<RuntimeClass> = defineKind({ apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', plural: 'runtimeclasses', namespaced: false })

export type Secret = types.Secret
export const Secret: Kind<Secret> = defineKind({ apiVersion: 'v1', kind: 'Secret', plural: 'secrets' })

export type SelfSubjectAccessReview = types.SelfSubjectAccessReview
export const SelfSubjectAccessReview: Kind<SelfSubjectAccessReview> = defineKind({ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', plural: 'selfsubjectaccessreviews', namespaced: false })

export type SelfSubjectReview = types.SelfSubjectReview
export const SelfSubjectReview: Kind<SelfSubjectReview> = defineKind({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', plural: 'selfsubjectreviews', namespaced: false })

export type SelfSubjectRulesReview = types.SelfSubjectRulesReview
export const SelfSubjectRulesReview: Kind<SelfSubjectRulesReview> = defineKind({ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', plural: 'selfsubjectrulesreviews', namespaced: false })

export type Service = types.Service
export const Service: Kind<Service> = defineKind({ apiVersion: 'v1', kind: 'Service', plural: 'services' })

export type ServiceAccount = types.ServiceAccount
export const ServiceAccount: Kind<ServiceAccount> = defineKind({ apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts' })

export type ServiceCIDR = types.ServiceCIDR
export const ServiceCIDR: Kind<ServiceCIDR> = defineKind({ apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', plural: 'servicecidrs', namespaced: false })

export type StatefulSet = types.StatefulSet
export const StatefulSet: Kind<StatefulSet> = defineKind({ apiVersion: 'apps/v1', kind: 'StatefulSet', plural: 'statefulsets' })

export type StorageClass = types.StorageClass
export const StorageClass: Kind<StorageClass> = defineKind({ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', plural: 'storageclasses', namespaced: false })

export type SubjectAccessReview = types.SubjectAccessReview
export const SubjectAccessReview: Kind<SubjectAccessReview> = defineKind({ apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', plural: 'subjectaccessreviews', namespaced: false })

export type TokenReview = types.TokenReview
export const TokenReview: Kind<TokenReview> = defineKind({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', plural: 'tokenreviews', namespaced: false })

export type ValidatingAdmissionPolicy = types.ValidatingAdmissionPolicy
export const ValidatingAdmissionPolicy: Kind<ValidatingAdmissionPolicy> = defineKind({ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy', plural: 'validatingadmissionpolicies', namespaced: false })

export type ValidatingAdmissionPolicyBinding = types.ValidatingAdmissionPolicyBinding
export const ValidatingAdmissionPolicyBinding: Kind<ValidatingAdmissionPolicyBinding> = defineKind({ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicyBinding', plural: 'validatingadmissionpolicybindings', namespaced: false })

export type ValidatingWebhookConfiguration = types.ValidatingWebhookConfiguration
export const ValidatingWebhookConfiguration: Kind<ValidatingWebhookConfiguration> = defineKind({ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration', plural: 'validatingwebhookconfigurations', namespaced: false })

export type VolumeAttachment = types.VolumeAttachment
export const VolumeAttachment: Kind<VolumeAttachment> = defineKind({ apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttachment', plural: 'volumeattachments', namespaced: false })

export type VolumeAttributesClass = types.VolumeAttributesClass
export const VolumeAttributesClass: Kind<VolumeAttributesClass> = defineKind({ apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttributesClass', plural: 'volumeattributesclasses', namespaced: false })
