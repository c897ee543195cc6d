const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`

/** Ways to write an image whose base is ubuntu. */
export const UBUNTU_SPELLINGS: readonly string[] = [
  'ubuntu',
  'ubuntu:22.04',
  `ubuntu@${DIGEST}`,
  `ubuntu:22.04@${DIGEST}`,
  'library/ubuntu',
  'docker.io/ubuntu',
  'docker.io/library/ubuntu:latest',
  'docker.io:443/library/ubuntu',
  'index.docker.io/library/ubuntu',
  'registry-1.docker.io/library/ubuntu',
  'Docker.IO/library/ubuntu',
  'localhost:5000/ubuntu:1',
  'registry.example.com:5000/library/ubuntu',
  'arm64v8/ubuntu',
  'mirror.gcr.io/library/ubuntu',
  'gcr.io/project/ubuntu',
]
