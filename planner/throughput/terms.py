"""The named parts of a run's time, with their formulas."""

from planner.result import Formula

COMPUTE = Formula(
    id="time.compute",
    unit="s",
    latex=r"\sum_i \max\!\left(\frac{2 m k n}{\eta P}(1+q),\ \frac{\text{bytes}}{\beta B}\right)(1+b)",
    source="Roofline model (Williams et al. 2009); attained rates measured per card and dtype",
)
ATTENTION = Formula(
    id="time.attention",
    unit="s",
    latex=r"\frac{2 L T \bar{s} a (d_{qk}+d_v)}{\eta_f P}(1+b_f)",
    source="FlashAttention-2 (arXiv:2307.08691), backward five products against two",
)
ELEMENTWISE = Formula(
    id="time.elementwise",
    unit="s",
    latex=r"\frac{\text{bytes of norms, activations, sums, rotary, loss}}{\beta B}",
    source="Counted by kernel; attained bandwidth measured per card",
)
RECOMPUTE = Formula(
    id="time.recompute",
    unit="s",
    latex=r"t_\text{forward} - t_\text{last product}",
    source="torch.utils.checkpoint stops once the last saved tensor is back; Korthikanti et al. 2022 for selective",
)
COMMUNICATION = Formula(
    id="time.communication",
    unit="s",
    latex=r"\sum_c \max(0,\ \alpha_c + V_c/B_c - t_\text{overlap})",
    source="Alpha-beta model; bus bandwidths measured with NCCL",
)
BUBBLE = Formula(
    id="time.bubble",
    unit="s",
    latex=r"\frac{p-1}{v}\, t_\text{micro-batch}",
    source="Narayanan et al. 2021 (arXiv:2104.04473), section 2.2",
)
OPTIMIZER = Formula(
    id="time.optimizer",
    unit="s",
    latex=r"\frac{N_\text{local} \cdot \text{bytes per parameter}}{\beta B}",
    source="Kernels of torch.optim, counted by pass",
)
INPUT = Formula(
    id="time.input",
    unit="s",
    latex=r"\max(0,\ \max(t_\text{storage}, t_\text{decode}, t_\text{copy}) - t_\text{step})",
    source="Loader processes work ahead of the GPU",
)
LAUNCH = Formula(
    id="time.launch",
    unit="s",
    latex=r"\max(0,\ t_\text{host} - t_\text{GPU})",
    source="Time of the CPU to issue kernels, where the GPU is faster",
)
MEMORY = Formula(
    id="time.memory",
    unit="s",
    latex=r"\frac{\text{weights} + \text{key/value cache}}{\beta B}",
    source="Roofline model: decoding reads every weight and the whole cache for each token",
)
