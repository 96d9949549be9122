"""What Lightning drives: a step, a validation by decoded text, the optimiser."""

from __future__ import annotations

from typing import Any, NamedTuple

import lightning
import numpy as np
import torch
from torch import Tensor

from urewrite.dialogue import Example
from urewrite.edits.grid import Axes
from urewrite.edits.occurrences import decode_once
from urewrite.errors import TrainingError
from urewrite.network.run import RUN
from urewrite.scoring import score
from urewrite.training.batches import LabelledBatch
from urewrite.training.criterion import value_of
from urewrite.training.loss import grid_loss, taught_loss
from urewrite.training.settings import OptimiserSettings
from urewrite.training.weights import encoder_parameters

_EPOCH_SO_FAR = "losses_of_epoch"


class HeldOut(NamedTuple):
    """Examples whose predictions are decoded and scored after every epoch, and their axes."""

    examples: list[Example]
    axes: list[Axes]


def precision_of(settings: OptimiserSettings) -> torch.dtype:
    """Of the products in an encoder that learns, or teaches."""
    return torch.bfloat16 if settings.encoder_precision == "bfloat16" else torch.float32


class RewritingModule(lightning.LightningModule):
    """RUN with its loss. Validation decodes the likeliest type of each cell and scores the text as papers do."""

    class_weights: Tensor

    def __init__(
        self, network: RUN, settings: OptimiserSettings, seed: int, held_out: HeldOut, *, teacher_weight: float = 0
    ) -> None:
        super().__init__()
        self.teacher_weight = teacher_weight
        self.settings = settings
        self.seed = seed
        self.network = network
        self.held_out = held_out
        self.register_buffer("class_weights", torch.tensor(settings.class_weights), persistent=False)
        self._predictions: dict[int, str] = {}
        self._losses, self._seen = 0.0, 0.0

    def on_train_batch_start(self, batch: LabelledBatch, batch_idx: int) -> None:  # noqa: ARG002
        """Draw dropout from seed and step alone, so that a resumed run goes on exactly."""
        torch.manual_seed((self.seed * 1_000_003 + self.global_step) * 1_009 + self.global_rank)

    def training_step(self, batch: LabelledBatch, batch_idx: int) -> Tensor:  # noqa: ARG002
        """The loss of a batch."""
        with self.network.computing_in(precision_of(self.settings)):
            loss, logits = self._loss(batch)
        if self.teacher_weight and batch.taught is not None:
            loss = torch.lerp(loss, taught_loss(logits, batch.taught, self.class_weights), self.teacher_weight)
        if not torch.isfinite(loss):
            raise TrainingError(
                f"the loss is {loss.item()} at step {self.global_step}; lower optimiser.learning_rate in a new folder"
            )
        size = len(batch.positions)
        self._losses += size * loss.item()
        self._seen += size
        self.log("train_loss_step", loss, on_step=True, on_epoch=False, prog_bar=True, batch_size=size)
        return loss

    def configure_gradient_clipping(
        self,
        optimizer: torch.optim.Optimizer,
        gradient_clip_val: float | None = None,  # noqa: ARG002 - Lightning's own
        gradient_clip_algorithm: str | None = None,  # noqa: ARG002
    ) -> None:
        """Clip, and stop before a step that would leave weights which are no numbers."""
        learned = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        size = torch.nn.utils.clip_grad_norm_(learned, self.settings.clip)
        if not torch.isfinite(size):
            raise TrainingError(
                f"the size of the gradient is {size.item()} at step {self.global_step};"
                " lower optimiser.learning_rate in a new folder"
            )

    def on_train_epoch_end(self) -> None:
        """Log the mean loss of all examples of the epoch, also of those before the run was interrupted."""
        losses, seen = self._of_all_processes()
        self._losses, self._seen = 0.0, 0.0
        # Under a name of its own: that of the step is each process's own, so that none waits for another.
        self.log("train_loss_epoch", losses / max(seen, 1), prog_bar=True)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Keep what Lightning forgets: the losses of the epoch so far."""
        checkpoint[_EPOCH_SO_FAR] = self._of_all_processes()

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Go on with these losses; one process has them for all."""
        if self.global_rank == 0:
            self._losses, self._seen = checkpoint.get(_EPOCH_SO_FAR, (0.0, 0.0))

    def validation_step(self, batch: LabelledBatch, batch_idx: int) -> None:  # noqa: ARG002
        """Decode the predicted grids of a batch."""
        loss, logits = self._loss(batch)
        self.log("validation_loss", loss, on_epoch=True, batch_size=len(batch.positions), sync_dist=True)
        grids = logits.argmax(1).to(torch.int8).cpu().numpy()
        for grid, position in zip(grids, batch.positions, strict=True):
            axes = self.held_out.axes[position]
            rows, columns = axes.shape
            self._predictions[position] = decode_once(axes, np.ascontiguousarray(grid[:rows, :columns]))

    def on_validation_epoch_end(self) -> None:
        """Score the decoded texts."""
        predicted, self._predictions = self._gathered(), {}
        scores = score(self.held_out.examples, [predicted[position] for position in range(len(predicted))])
        shown = self.settings.monitor
        for name, value in {**scores.metrics, shown: value_of(shown, scores.metrics)}.items():
            self.log(name, value, prog_bar=name == shown)

    def configure_optimizers(self) -> Any:  # noqa: ANN401 - Lightning's own union of forms
        """AdamW with a learning rate of its own for an encoder, and the schedule asked for."""
        wanted = self.settings
        pretrained = encoder_parameters(self.network)
        groups = [
            {
                "params": [p for p in self.parameters() if p not in pretrained and p.requires_grad],
                "lr": wanted.learning_rate,
            },
            {
                "params": [p for p in self.parameters() if p in pretrained and p.requires_grad],
                "lr": wanted.encoder_learning_rate,
            },
        ]
        # Fused, a step walks over weights once instead of a dozen times: a tenth of a training with a large encoder.
        optimiser = torch.optim.AdamW(
            [group for group in groups if group["params"]], weight_decay=wanted.weight_decay, fused=True
        )
        if wanted.schedule == "plateau":
            plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimiser, mode="max", factor=0.5, patience=3)
            return {"optimizer": optimiser, "lr_scheduler": {"scheduler": plateau, "monitor": wanted.monitor}}
        if wanted.schedule == "cosine":
            # A run that learns from everything ends where the one before was best, on the way to the same end.
            steps = int(self.trainer.estimated_stepping_batches) * wanted.epochs // (self.trainer.max_epochs or 1)
            warm_up = 0.05 if 0.05 * steps != 1 else 0.06  # OneCycleLR divides by zero where it is one step
            cosine = torch.optim.lr_scheduler.OneCycleLR(
                optimiser,
                max_lr=[group["lr"] for group in optimiser.param_groups],
                total_steps=steps,
                pct_start=warm_up,
                div_factor=10,
            )
            return {"optimizer": optimiser, "lr_scheduler": {"scheduler": cosine, "interval": "step"}}
        return optimiser

    def _loss(self, batch: LabelledBatch) -> tuple[Tensor, Tensor]:
        logits: Tensor = self.network(batch.inputs)
        return grid_loss(logits, batch.labels, self.class_weights), logits

    def _of_all_processes(self) -> tuple[float, float]:
        """The sum of the losses of this epoch's examples, and how many there were."""
        if self.trainer.world_size == 1:
            return self._losses, self._seen
        total = torch.tensor([self._losses, self._seen], dtype=torch.float64)
        torch.distributed.all_reduce(total)
        losses, seen = total.tolist()
        return losses, seen

    def _gathered(self) -> dict[int, str]:
        """The predictions of all processes."""
        if self.trainer.world_size == 1:
            return self._predictions
        parts: list[dict[int, str]] = [{} for _ in range(self.trainer.world_size)]
        torch.distributed.all_gather_object(parts, self._predictions)
        return {position: text for part in parts for position, text in part.items()}
