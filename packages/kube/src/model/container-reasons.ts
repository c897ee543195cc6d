/** Reasons of a waiting container that does not start without a change, or not soon. */
export const STUCK_CONTAINER_REASONS: ReadonlySet<string> = new Set([
  'CrashLoopBackOff',
  'CreateContainerConfigError',
  'CreateContainerError',
  'ErrImageNeverPull',
  'ErrImagePull',
  'ImageInspectError',
  'ImagePullBackOff',
  'InvalidImageName',
  'RegistryUnavailable',
  'RunContainerError',
  'SignatureValidationFailed',
  'StartError',
])
