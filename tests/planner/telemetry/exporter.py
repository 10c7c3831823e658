"""A small exporter of GPU series in the text format of Prometheus, as dcgm-exporter writes them."""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

OLD = """\
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="node1"} 97
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="node1"} 60000
DCGM_FI_DEV_FB_FREE{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="node1"} 20000
DCGM_FI_DEV_FB_RESERVED{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="node1"} 559
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="node1"} 640.5
DCGM_FI_PROF_SM_ACTIVE{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="node1"} 0.81
DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="node1"} 2147483634
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="0",UUID="GPU-a",modelName="NVIDIA H100",Hostname="node1"} 9223372036854775794
"""
NEW = """\
DCGM_FI_DEV_GPU_UTIL_RATIO{gpu="1",UUID="GPU-b",modelName="NVIDIA H200",hostname="node2"} 0.5
DCGM_FI_DEV_BOARD_POWER_WATTS{gpu="1",UUID="GPU-b",modelName="NVIDIA H200",hostname="node2"} 300
DCGM_FI_PROF_TENSOR_UTIL_RATIO{gpu="1",UUID="GPU-b",modelName="NVIDIA H200",hostname="node2"} 0.25
DCGM_FI_DEV_FB_USED{gpu="2",UUID="GPU-c",GPU_I_PROFILE="1g.10gb",GPU_I_ID="7",modelName="A100",hostname="node2"} 100
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="2",UUID="GPU-c",GPU_I_PROFILE="1g.10gb",GPU_I_ID="7",hostname="node2"} 1.02
DCGM_FI_DEV_POWER_USAGE{gpu="2",UUID="GPU-c",modelName="A100",hostname="node2"} 200
"""


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        body = (OLD + NEW).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
