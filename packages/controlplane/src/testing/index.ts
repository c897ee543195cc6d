export { refuse, type Interception, type Interceptor, type RecordedRequest, type Verb } from '@tenure/runtime/testing'
export { crdFor, TestControlPlane, type ObjectChange, type TestControlPlaneOptions } from './test-control-plane.ts'
